"""A quantize reads a type that it does not take at the imported opset.

**Why it matters**: float16 and bfloat16 inputs came with opset 19; no version takes float64, int8 or uint8. ONNX Runtime refuses
the model.

**Bad**: ``QuantizeLinear`` of float16 at opset 13

**Good**: the same at opset 19, with a float16 scale; or a Cast to float32 before it

**Fix**: import opset 19, or cast.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.capabilities import lacks
from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.subject import Subject

CODE = "QDQ114"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    return each(subject, _fault, "import an opset that has the type, or cast to float32", about="x")


def _fault(form: Form) -> str:
    return lacks(form.x.dtype, form.row, "expressed") if form.row.kind == "quantize" else ""
