"""The runtime has no quantize or dequantize for codes of this type.

**Why it matters**: the model is refused when it loads, or, worse, its codes are read as another type.

**Bad**: ``float4e2m1`` codes in ONNX Runtime; ``uint8`` codes in TensorRT, which takes them for int8; any QuantizeLinear at opset 28 in
ONNX Runtime 1.32, whose newest kernel is that of opset 25

**Good**: ``int8`` codes

**Fix**: ``qdqtool convert --for RUNTIME`` writes them with what the runtime has, where that is exact.

**Runtimes**: all; the table of each is in `targets.md`.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.forms import Form
from qdqtool.linting.runtimes import at_hand, first_for, listed, operand, said, steps, told
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place

CODE = "QDQ404"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    if subject.profile is None or subject.profile.rows is None:
        return
    cautions = told(subject, __name__)
    named = set()
    for caution in (c for c in cautions if c.storage):
        for place, lifted in steps(subject, caution):
            if not _unnamed(subject, place, lifted.storage):
                named.add(place)
                yield said(subject, caution, place, f"codes of {lifted.storage}", about=operand(subject, lifted, 0))
    for form, places in subject.forms.items():
        what = _lacking(subject, form, places[0])
        for place in places if what else ():
            lifted = subject.steps[place]
            if place not in named and not _unnamed(subject, place, lifted.storage):
                yield said(subject, first_for(cautions, lifted), place, what, operand(subject, lifted, 0), _way_out(subject))


def _lacking(subject: Subject, form: Form, place: Place) -> str:
    """What the runtime has not, in words; empty for what the specification does not have either."""
    storage = form.meaning.storage
    rows = at_hand(subject, subject.steps[place])
    if not rows:
        return f"no kernel of {form.row}"
    allowed = frozenset(t for row in rows for t in row.storage)
    if storage is None or storage in allowed or storage not in form.row.storage:
        return ""
    return f"{form.row} with codes of {storage}; it takes {listed(allowed)}"


def _unnamed(subject: Subject, place: Place, storage: object) -> bool:
    """A quantize that names no type, of which another rule says what the runtime makes."""
    assert subject.profile is not None
    lifted = subject.steps[place]
    missing = subject.profile.cautions.of("zero-point-missing")
    bare = lifted.step.zero_point is None and lifted.step.meaning.kind == "quantize"
    return bare and any(c.kind == "quantize" and storage in c.storage for c in missing)


def _way_out(subject: Subject) -> str:
    assert subject.profile is not None
    return f"qdqtool convert --for {subject.profile}" if subject.profile.converts else "quantize to a type that it takes"
