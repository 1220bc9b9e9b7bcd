"""Replay: both models cut at every rewritten step, each step fed with the values it really gets in the original.

ONNX Runtime keeps float32 between float16 nodes where it can, so two models that mean the same differ by float16 ulps; and
a step equal up to rounding moves all that follows. Cut apart, every step stands alone, and all between them must be equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from onnx import ModelProto, ValueInfoProto

from qdqtool import dtypes
from qdqtool.check.compare import Comparison, compare
from qdqtool.check.fragments import value_info
from qdqtool.check.inside import exposed
from qdqtool.check.numbers import maximum, spacing, wide
from qdqtool.check.options import CheckOptions
from qdqtool.check.outcome import outcome
from qdqtool.check.pools import converted
from qdqtool.check.probe import Port, Probe
from qdqtool.check.runs import Inputs, copy_in_runtime
from qdqtool.check.segments import Cuts
from qdqtool.check.sessions import CannotRun, Setting
from qdqtool.check.steps import RUNTIME
from qdqtool.check.subject import Subject
from qdqtool.dtypes import ElementType
from qdqtool.exactness import Bound, Exactness
from qdqtool.kernels.sources import Array

PRODUCED = "::produced"
_OUTSIDE = "outside of the rewritten steps:"
_MOST_BYTES = 1 << 28
_ULPS = 4


@dataclass(frozen=True, slots=True)
class Replayed:
    """Comparisons in the order of the graph; `left_out` counts steps that could not be cut out of both models.

    Where some were, a value that differs outside of the steps blames nobody: it is "not checked".
    """

    comparisons: tuple[Comparison, ...]
    left_out: int


def replay(
    original: Subject,
    rewritten: Subject,
    probes: Sequence[Probe],
    inputs: Inputs,
    wanted: Sequence[str],
    options: CheckOptions,
    at: Cuts = (),
) -> Replayed:
    """Judge every step on its real inputs, and all outputs and values between the steps bit for bit.

    Results of nodes that are rounded otherwise may lie a few ulps of their largest value apart.

    Raises
    ------
    CannotRun
        One of the check copies does not run.
    """
    setting, carriers = options.setting, _carriers(probes)
    rounded = {value: each.node for each in options.rounded for value in each.values}
    cuts = _cuts(original.proto(), rewritten.proto(), carriers.keys() | rounded.keys())
    values = _arrays(copy_in_runtime(exposed(original.proto(), cuts), original, setting, inputs, cuts, at))
    cuts = [name for name in cuts if name in values]
    everything = {**inputs, **values}
    own = {name: dtypes.of_numpy(values[name].dtype) for name in cuts}
    before = _run_cut(original, own, everything, wanted, setting, at)
    after = _run_cut(rewritten, {name: carriers.get(name, own[name]) for name in cuts}, everything, wanted, setting, at)
    by_output = {probe.output_in_model: probe for probe in probes if probe.output_in_model}
    names = [name + PRODUCED for name in cuts] + [name for name in wanted if name not in values]
    found = [
        _rounded(rounded[plain], before[name], after[name])
        if (plain := name.removesuffix(PRODUCED)) in rounded
        else _judged(name, before[name], after[name], by_output, everything)
        for name in names
        if name in before and name in after
    ]
    found += [
        Comparison(f"value {name}", "not checked", reason="it is no tensor") for name in names if name not in before or name not in after
    ]
    left_out = sum(probe.output_in_model not in values for probe in probes)
    left_out += sum(not each.values or any(value not in values for value in each.values) for each in options.rounded)
    return Replayed(tuple(_undecided(c) if left_out and c.where.startswith(_OUTSIDE) else c for c in found), left_out)


def _undecided(comparison: Comparison) -> Comparison:
    if comparison.verdict == "equal":
        return comparison
    return replace(comparison, verdict="not checked", reason=f"{comparison.difference}; it may depend on a step that could not be cut out")


def _carriers(probes: Sequence[Probe]) -> dict[str, ElementType]:
    """Type that each value at the border of a step has in the rewritten model."""
    carriers: dict[str, ElementType] = {}
    for probe in probes:
        ports: list[tuple[str, Port]] = list(zip(probe.inputs_in_model, probe.after.inputs, strict=False))
        ports += [(probe.output_in_model, probe.after.outputs[0])] if probe.output_in_model else []
        carriers.update({name: port.dtype for name, port in ports})
    return carriers


def _cuts(original: ModelProto, rewritten: ModelProto, borders: Set[str]) -> list[str]:
    """Border values that both main graphs make, in order, as far as memory allows; a folded one is a constant in the second."""
    both = {name for node in rewritten.graph.node for name in node.output} | {tensor.name for tensor in rewritten.graph.initializer}
    sizes = {tensor.name: int(np.prod(tensor.dims)) * 4 for tensor in original.graph.initializer}
    cuts, room = [], _MOST_BYTES
    for node in original.graph.node:
        for name in node.output:
            size = sizes.get(node.input[0], 0) if node.input else 0
            if name in borders and name in both and size <= room:
                room -= size
                cuts.append(name)
    return cuts


def _run_cut(
    subject: Subject, types: Mapping[str, ElementType], values: Inputs, wanted: Sequence[str], setting: Setting, at: Cuts
) -> Inputs:
    model = cut(subject.proto(), types, values)
    names = [output.name for output in model.graph.output]
    kept = [name for name in names if name in wanted or name.endswith(PRODUCED)]
    known = {port.name for port in model.graph.input}
    fed = {name: converted(value, types[name]) if name in types else value for name, value in values.items() if name in known}
    renamed = tuple(name + PRODUCED if name in types else name for name in at)
    return _arrays(copy_in_runtime(model, subject, setting, fed, kept, renamed))


def cut(model: ModelProto, types: Mapping[str, ElementType], values: Inputs) -> ModelProto:
    """Every cut value becomes a graph input; what is produced under its name becomes an output under another."""
    for node in model.graph.node:
        for slot, name in enumerate(node.output):
            if name in types:
                node.output[slot] = name + PRODUCED
    for tensor in model.graph.initializer:
        if tensor.name in types:
            tensor.name += PRODUCED
    outputs = list(dict.fromkeys(name.name for name in model.graph.output if name.name not in types))
    kept = {output.name: output for output in model.graph.output}
    declared = [kept[name] for name in outputs] + [ValueInfoProto(name=name + PRODUCED) for name in types]
    del model.graph.output[:]
    model.graph.output.extend(declared)
    infos = [info for info in model.graph.value_info if info.name not in types]
    del model.graph.value_info[:]
    model.graph.value_info.extend(infos)
    model.graph.input.extend(value_info(name, dtype, values[name].shape) for name, dtype in types.items())
    return model


def _arrays(results: Mapping[str, object]) -> Inputs:
    return {name: value for name, value in results.items() if isinstance(value, np.ndarray)}


def _rounded(node: str, old: Array, new: Array) -> Comparison:
    largest = np.asarray(maximum(wide(old)), old.dtype)
    share = _ULPS * float(spacing(largest)) / float(largest) if largest else 0.0
    verdict, difference = compare(old, new, exactness=Exactness.ROUNDING, bound=Bound(of_maximum=share))
    return Comparison(f"{node}, rounded otherwise", verdict, difference, RUNTIME)


def _judged(name: str, old: Array, new: Array, probes: Mapping[str, Probe], values: Inputs) -> Comparison:
    plain = name.removesuffix(PRODUCED)
    probe = probes.get(plain)
    if probe is None:
        verdict, difference = compare(old, new, exactness=Exactness.BIT_EQUAL)
        return Comparison(f"{_OUTSIDE} value {plain}", verdict, difference, RUNTIME)
    pairs = zip(probe.before.inputs, probe.inputs_in_model, strict=False)
    inputs = {port.name: values[known] for port, known in pairs if known in values}
    try:
        verdict, difference = outcome(probe, inputs, old, new)
    except ValueError as error:
        raise CannotRun(f"replay of {probe.place}: {error}") from None
    return Comparison(probe.place, verdict, difference, RUNTIME)
