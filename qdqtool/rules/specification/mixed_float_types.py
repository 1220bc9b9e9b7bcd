"""Input and scale of a quantize have different types where the imported opset wants one.

**Why it matters**: only from opset 23 on may they differ (the division then happens in the type of the scale, or in
``precision``); ONNX Runtime refuses the model before.

**Bad**: float16 input with a float32 scale at opset 21

**Good**: both float16; or opset 23

**Fix**: store the scale in the type of the input, or import opset 23.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.subject import Subject

CODE = "QDQ116"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    return each(subject, _fault, "store the scale in the type of the input, or import opset 23", about="scale")


def _fault(form: Form) -> str:
    x, scale = form.x.dtype, form.scale.dtype
    if form.row.kind != "quantize" or not form.row.linked or x is None or scale is None or x is scale:
        return ""
    allowed = x in form.row.expressed and scale in form.row.scale
    return f"{form.row} needs input and scale of one type, not {x} and {scale}" if allowed else ""
