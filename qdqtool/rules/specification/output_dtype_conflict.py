"""``output_dtype`` of a quantize says another type than its zero point.

**Why it matters**: both name the type of the result, so the node has no meaning; ONNX Runtime refuses the model.

**Bad**: ``output_dtype = 22`` (int4) with an int8 zero point

**Good**: the zero point alone

**Fix**: take ``output_dtype`` away where there is a zero point.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.dtypes import of_code
from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.subject import Subject

CODE = "QDQ118"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    return each(subject, _fault, "take output_dtype away, or store the zero point in its type", about="output_dtype")


def _fault(form: Form) -> str:
    if form.row.kind != "quantize" or not form.row.output_dtype or form.zero_point is None:
        return ""
    named, zero = of_code(form.given.get("output_dtype", 0)), form.zero_point.dtype
    return f"output_dtype says {named}, the zero point is {zero}" if named and zero and named is not zero else ""
