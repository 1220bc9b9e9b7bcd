"""Two pairs of quantize and dequantize stand in a row, and the runtime makes one of them.

**Why it matters**: the second rounding is part of what the model says. Without it results move by up to 0.67 of an output step.

**Bad**: Q, DQ, Q, DQ with different scales and default options

**Good**: one pair, or the session option that keeps both

**Fix**: ``session.disable_double_qdq_remover = 1``, or take the pair out that is not meant.

**Runtimes**: ONNX Runtime from level BASIC on, as measured.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.runtimes import said, told
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place

CODE = "QDQ430"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for place, lifted in subject.steps.items():
            above = _above(subject, place, "dequantize") if lifted.step.meaning.kind == "quantize" else None
            first = _above(subject, above, "quantize") if above is not None else None
            if above is None or first is None or not _followed(subject, place) or _same(subject, first, place):
                continue
            result = subject.node(first).output[0]
            yield said(subject, caution, place, f"quantized again, behind '{result}'", subject.node(place).output[0])


def _above(subject: Subject, place: Place, kind: str) -> Place | None:
    """The step that alone feeds this one."""
    found = subject.producer(place, subject.steps[place].source.order[0])
    fits = found in subject.steps and subject.steps[found].step.meaning.kind == kind  # type: ignore[index]
    return found if fits and found is not None and len(subject.readers(found)) == 1 else None


def _followed(subject: Subject, place: Place) -> bool:
    return any(use.place in subject.steps for use in subject.readers(place))


def _same(subject: Subject, one: Place, other: Place) -> bool:
    """Scale and zero point are the same constants, so that the second pair changes nothing."""
    steps = subject.steps[one].step, subject.steps[other].step
    return steps[0].scale == steps[1].scale and steps[0].zero_point == steps[1].zero_point
