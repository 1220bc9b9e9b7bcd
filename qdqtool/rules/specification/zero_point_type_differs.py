"""The zero point of a dequantize has another type than its codes.

**Why it matters**: the two share a type in every version; ONNX Runtime refuses the model. It happens where codes were re-encoded
(uint8 to int8) and the zero point was forgotten, or where a quantize before it makes uint8 because it has no zero point.

**Bad**: int8 codes with a uint8 zero point

**Good**: int8 codes with an int8 zero point

**Fix**: store the zero point in the type of the codes; give the quantize before it the same zero point.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.forms import Form
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place

CODE = "QDQ117"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for form, places in subject.forms.items():
        fault = _fault(form)
        for place in places if fault else ():
            if not _declared_only(subject, place, form):
                yield subject.problem(place, fault, "store the zero point in the type of the codes", about="zero point")


def _declared_only(subject: Subject, place: Place, form: Form) -> bool:
    """The codes are made in the type of the zero point, and only declared in another."""
    at = subject.producer(place, form.row.order[0])
    maker = None if at is None else subject.steps.get(at)
    return maker is not None and form.zero_point is not None and maker.step.dtype is form.zero_point.dtype


def _fault(form: Form) -> str:
    codes, zero = form.x.dtype, form.zero_point.dtype if form.zero_point else None
    differ = form.row.kind == "dequantize" and codes is not None and zero is not None and codes is not zero
    return f"the codes are {codes}, their zero point {zero}" if differ else ""
