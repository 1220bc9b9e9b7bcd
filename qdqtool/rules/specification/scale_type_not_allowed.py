"""The scale has a type that quantize or dequantize does not take at the imported opset.

**Why it matters**: float16 and bfloat16 scales came with opset 19, float8e8m0 with 24; no version takes float64. ONNX Runtime
refuses the model.

**Bad**: a float16 scale at opset 13

**Good**: a float32 scale; or float16 at opset 19

**Fix**: import the opset that has the type, or store the scale as float32 (exact for float16 and bfloat16).
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.capabilities import lacks
from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.subject import Subject

CODE = "QDQ115"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    return each(subject, _fault, "import an opset that has the type, or store the scale as float32", about="scale")


def _fault(form: Form) -> str:
    return lacks(form.scale.dtype, form.row, "scale")
