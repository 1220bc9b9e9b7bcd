"""Two pairs of quantize and dequantize stand in a row, and the runtime makes one of them.

**Why it matters**: the second rounding is part of what the model says. Without it results move by up to 0.67 of an output step.

**Bad**: Q, DQ, Q, DQ in one type with different scales, and default options

**Good**: one pair, or the session option that keeps both

**Fix**: ``session.disable_double_qdq_remover = 1``, or take the pair out that is not meant.

**Runtimes**: ONNX Runtime from level BASIC on, as measured.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.pairs import parameters
from qdqtool.linting.runtimes import said, told
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place
from qdqtool.quantization import Kind, PerTensor

CODE = "QDQ430"
SEVERITY = "warning"
STAGE = "graph"
INSTEAD_OF = ("QDQ303",)


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for place in subject.steps:
            first = _first(subject, place)
            if first is not None:
                what = f"codes with {parameters(subject, first)} are quantized again with {parameters(subject, place)}"
                yield said(subject, caution, place, what, subject.node(place).output[0])


def _first(subject: Subject, place: Place) -> Place | None:
    """The quantize of a pair that stands before this one and can become one with its pair."""
    above = _above(subject, place, "dequantize") if subject.steps[place].step.meaning.kind == "quantize" else None
    first = _above(subject, above, "quantize") if above is not None else None
    read = first is not None and any(use.place in subject.steps for use in subject.readers(place))
    return first if first is not None and read and _mergeable(subject, first, place) else None


def _above(subject: Subject, place: Place, kind: Kind) -> Place | None:
    """The step that alone feeds this one."""
    found = subject.makers[place]
    fits = found is not None and found in subject.steps and subject.steps[found].step.meaning.kind == kind
    return found if fits and found is not None and len(subject.readers(found)) == 1 else None


def _mergeable(subject: Subject, one: Place, other: Place) -> bool:
    """Of one type, with one scale each, and not the same constants, with which the second pair changes nothing."""
    first, second = subject.steps[one].step, subject.steps[other].step
    if first.meaning.storage is not second.meaning.storage or not isinstance(first.meaning.granularity, PerTensor):
        return False
    return isinstance(second.meaning.granularity, PerTensor) and (first.scale, first.zero_point) != (second.scale, second.zero_point)
