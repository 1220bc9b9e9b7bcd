"""The codes of a quantize or dequantize have a type that it does not have at the imported opset.

**Why it matters**: int4 and int16 came with opset 21, int2 with 25, float8 with 19; earlier opsets, and runtimes that follow
them, refuse the node. ``com.microsoft`` has the integer types from 4 to 16 bits at any opset, but no int2 and no float8.

**Bad**: ``DequantizeLinear`` of int16 at opset 13

**Good**: the same at opset 21, or ``com.microsoft.DequantizeLinear`` at 13

**Fix**: import the opset that has the type; or move the nodes to ``com.microsoft`` when only ONNX Runtime shall read them.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.capabilities import lacks
from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.subject import Subject

CODE = "QDQ113"
SEVERITY = "error"
STAGE = "graph"

HINT = "import an opset that has the type; for ONNX Runtime alone com.microsoft has 4 to 16 bits at any"


def check(subject: Subject) -> Iterator[Problem]:
    return each(subject, _fault, HINT, about="type")


def _fault(form: Form) -> str:
    named = form.row.kind == "quantize" and form.zero_point is None and form.given.get("output_dtype")
    return "" if named else lacks(form.meaning.storage, form.row, "storage")
