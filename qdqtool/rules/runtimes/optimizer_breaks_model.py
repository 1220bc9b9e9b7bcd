"""A sound model that does not load with default options, since the runtime's graph optimizations break it.

**Why it matters**: the message is about nodes that nobody wrote: ``output_dtype INT8 does not match y_zero_point type UINT8``. The model
is right and loads with optimizations off.

**Bad**: from opset 21 on, ``output_dtype`` beside an int8 zero point, or int8 DequantizeLinear before Reshape, in ONNX Runtime 1.32

**Good**: the zero point alone; the same model at opset 20

**Fix**: ``qdqtool convert --for ort`` avoids these forms; else start the session without the optimizer that the hint names.

**Runtimes**: ONNX Runtime as measured in each of its wheels; see `targets.md`.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.expressions import is_const
from qdqtool.findings import Problem
from qdqtool.linting.runtimes import said, told
from qdqtool.linting.subject import Subject
from qdqtool.linting.units import units
from qdqtool.model.graph import Place, domain
from qdqtool.targets.profile import Profile

CODE = "QDQ431"
SEVERITY = "error"
STAGE = "graph"

OPTION = "disabled_optimizers=['QDQPropagationTransformer'] loads it, and so does qdqtool convert --for"


def check(subject: Subject) -> Iterator[Problem]:
    profile = subject.profile
    if profile is None:
        return
    yield from _doubled(subject, profile)
    yield from _integers(subject)
    for place, lifted in subject.steps.items():
        since, operators = profile.behind.get(lifted.storage, (0, frozenset[str]())) if lifted.storage else (0, frozenset[str]())
        if not operators or subject.opset < since or lifted.source.dialect != "ai.onnx" or lifted.step.meaning.kind != "dequantize":
            continue
        if subject.producer(place, 0) is not None:
            yield from _behind(subject, profile, place, operators)


def _integers(subject: Subject) -> Iterator[Problem]:
    """Products of 8-bit activations and constant weights that it makes an integer operator of."""
    for caution in told(subject, __name__):
        for unit in units(subject, caution.ops):
            data, weight = unit.inputs.get(0), unit.inputs.get(1)
            if data is None or weight is None or data.storage is None or data.storage.bits != 8:
                continue
            if weight.storage in caution.storage and is_const(weight.step.x):
                yield said(subject, caution, unit.place, f"{unit.op} of {data.storage} and {weight.storage}", unit.op)


def _doubled(subject: Subject, profile: Profile) -> Iterator[Problem]:
    for place, lifted in subject.steps.items():
        since = profile.doubled
        if since is None or subject.opset < since or lifted.source.dialect != "ai.onnx" or lifted.step.meaning.kind != "quantize":
            continue
        if lifted.step.zero_point is not None and str(lifted.storage) == "int8" and subject.attribute(place, "output_dtype") is not None:
            zero = subject.node(place).input[2]
            message = f"{profile}: output_dtype beside zero point '{zero}' of int8 does not load unless optimizations are off"
            yield subject.problem(place, message, "leave output_dtype out; the zero point says the type", about="output_dtype")


def _behind(subject: Subject, profile: Profile, place: Place, operators: frozenset[str]) -> Iterator[Problem]:
    for use in subject.readers(place):
        node = subject.node(use.place)
        if not domain(node.domain) and node.op_type in operators and use.slot == 0:
            storage = subject.steps[place].storage
            message = f"{profile}: {node.op_type} behind a DequantizeLinear of {storage} does not load unless optimizations are off"
            yield subject.problem(use.place, message, f"{OPTION} {profile}", about=node.op_type)
            return
