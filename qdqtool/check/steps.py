"""Step level: every rewritten step, original against replacement, on stimuli made for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

import numpy as np
import onnx.checker
import onnx.shape_inference

from qdqtool.check import sessions
from qdqtool.check.bulk import Entry, batches, entry, joined, marked
from qdqtool.check.compare import Comparison, worst
from qdqtool.check.evaluator import Evaluator
from qdqtool.check.fragments import as_model
from qdqtool.check.outcome import outcome
from qdqtool.check.probe import Fragment, Probe
from qdqtool.check.sessions import CannotRun, Setting
from qdqtool.check.shapes import candidates, declared
from qdqtool.check.stimuli import Inputs, at_carrier, stimuli
from qdqtool.kernels.sources import Array

RUNTIME = "ONNX Runtime"
EVALUATOR = "evaluator only"

Runner = Callable[[Inputs], list[Array]]
Opener = Callable[[Fragment], AbstractContextManager[Runner]]
_Run = tuple[Sequence[Inputs], list[Array], list[Array]]


class _Broken(Exception):
    """The replacement fails where the original runs."""


def check_steps(probes: Sequence[Probe], setting: Setting, seed: int) -> list[Comparison]:
    """One comparison for each probe, by ONNX Runtime, or by our evaluator when that lacks a kernel for either side."""
    first: dict[tuple[bytes, bytes], int] = {}
    same: list[int] = []

    def distinct() -> Iterator[Entry]:
        for index, probe in enumerate(probes):
            made = entry(index, probe)
            same.append(first.setdefault((made.form, made.contents), index))
            if same[index] == index:
                yield made

    found: dict[int, Comparison] = {}
    for batch in batches(distinct()):
        found.update(zip((each.index for each in batch), check_together([each.probe for each in batch], setting, seed), strict=True))
    return [replace(found[index], where=probe.place) for index, probe in zip(same, probes, strict=True)]


def check_together(probes: Sequence[Probe], setting: Setting, seed: int) -> list[Comparison]:
    """Judge probes of one form, together or, if that fails, one by one; "not checked" when neither judge runs them."""
    reasons = []
    judges: tuple[tuple[str, Opener], ...] = ((RUNTIME, lambda made: _in_runtime(made, setting)), (EVALUATOR, _in_evaluator))
    for judge, opened in judges:
        try:
            return _judged(probes, opened, judge, seed)
        except CannotRun as error:
            reasons.append(f"{judge}: {error}")
        except _Broken as error:
            if len(probes) == 1:
                return [Comparison(probes[0].place, "different", None, judge, f"the replacement does not run: {error}")]
            break
    if len(probes) > 1:
        return [check_together([probe], setting, seed)[0] for probe in probes]
    return [_unjudged(probes[0], "; ".join(reasons))]


def _unjudged(probe: Probe, reason: str) -> Comparison:
    if (fault := _invalid(probe.after)) and not _invalid(probe.before):
        return Comparison(probe.place, "different", None, EVALUATOR, f"the replacement is not valid: {fault}")
    return Comparison(probe.place, "not checked", None, "", reason)


@contextmanager
def _in_runtime(fragment: Fragment, setting: Setting) -> Iterator[Runner]:
    wanted = [port.name for port in fragment.outputs]
    # A pool of threads costs more than all that a step computes.
    with sessions.session(as_model(fragment).SerializeToString(), replace(setting, threads=1)) as opened:
        yield lambda inputs: [np.asarray(value) for value in sessions.run(opened, inputs, wanted).values()]


@contextmanager
def _in_evaluator(fragment: Fragment) -> Iterator[Runner]:
    evaluator, wanted = Evaluator(as_model(fragment)), [port.name for port in fragment.outputs]
    yield lambda inputs: [np.asarray(value) for value in evaluator.run(inputs, wanted).values()]


def _judged(probes: Sequence[Probe], opened: Opener, judge: str, seed: int) -> list[Comparison]:
    with opened(joined([p.before for p in probes])) as before, opened(joined([p.after for p in probes])) as after:
        results = [[outcome(*each) for each in zip(probes, *run, strict=True)] for run in _runs(probes, before, after, seed)]
    return [Comparison(probe.place, *worst(runs), judge) for probe, *runs in zip(probes, *results, strict=True)]


def _runs(probes: Sequence[Probe], before: Runner, after: Runner, seed: int) -> Iterator[_Run]:
    """Inputs for all probes and what both sides make of them, in the first shapes that the originals run with."""
    reason = CannotRun("no shape of its inputs is known")
    for shapes in candidates(probes[0].before):
        draws = zip(*(stimuli(probe, shapes, seed) for probe in probes), strict=True)
        try:
            first = _run(probes, next(draws), before, after)
        except CannotRun as error:
            reason = error
        except _Broken:
            if declared(probes[0].before, shapes):
                raise
        else:
            yield first
            yield from (_run(probes, each, before, after) for each in draws)
            return
    raise reason


def _run(probes: Sequence[Probe], draws: Sequence[Inputs], before: Runner, after: Runner) -> _Run:
    old = before(_together(draws))
    try:
        return draws, old, after(_together([at_carrier(inputs, probe) for inputs, probe in zip(draws, probes, strict=True)]))
    except CannotRun as error:
        if error.missing:
            raise
        raise _Broken(str(error)) from None


def _together(draws: Sequence[Inputs]) -> Inputs:
    return {marked(number, name): value for number, inputs in enumerate(draws) for name, value in inputs.items()}


def _invalid(fragment: Fragment) -> str:
    """What the schemas of onnx say against it; they know more than ONNX Runtime has kernels for, so they can arbitrate."""
    context = onnx.checker.C.CheckerContext()
    context.ir_version, context.opset_imports = onnx.IR_VERSION, dict(fragment.imports)
    try:
        for node in fragment.nodes:
            onnx.checker.check_node(node, context)
        onnx.shape_inference.infer_shapes(as_model(fragment), check_type=True, strict_mode=True)
    except Exception as error:
        return sessions.plain(str(error))
    return ""
