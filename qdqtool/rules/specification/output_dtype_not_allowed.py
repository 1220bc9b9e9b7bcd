"""``output_dtype`` names no type that the result may have at the imported opset.

**Why it matters**: the type of the result is not defined; ONNX Runtime refuses the model.

**Bad**: ``QuantizeLinear`` with ``output_dtype = 1`` (float32); ``DequantizeLinear`` with ``output_dtype = 3`` (int8)

**Good**: ``QuantizeLinear`` with ``output_dtype = 3`` (int8); ``DequantizeLinear`` with ``output_dtype = 10`` (float16)

**Fix**: name a type of codes in a quantize, float32, float16 or bfloat16 in a dequantize.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.dtypes import of_code
from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.subject import Subject

CODE = "QDQ119"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    return each(subject, _fault, "name a type of codes in a quantize, a type of real values in a dequantize", about="output_dtype")


def _fault(form: Form) -> str:
    code = form.given.get("output_dtype", 0) if form.row.output_dtype else 0
    allowed = form.row.storage if form.row.kind == "quantize" else form.row.expressed
    if not code or of_code(code) in allowed:
        return ""
    return f"output_dtype {code} ({of_code(code) or 'no type'}) is nothing that {form.row} can give"
