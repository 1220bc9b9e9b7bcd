"""A step has several scales at an opset below 13, whose operators know one scale for the whole tensor only.

**Why it matters**: ONNX Runtime and ``onnx.checker`` accept it and scale along axis 1; runtimes that follow the text refuse it.

**Bad**: 64 scales at opset 10

**Good**: the same with ``axis = 1`` at opset 13

**Fix**: ``qdqtool convert --opset 13``.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.subject import Subject
from qdqtool.quantization import PerAxis

CODE = "QDQ140"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    return each(subject, _fault, "`qdqtool convert --opset 13` writes the axis", "scale")


def _fault(form: Form) -> str:
    vector = not form.row.vector and "axis" not in form.given and isinstance(form.meaning.granularity, PerAxis)
    return f"{form.row} has one scale only; runtimes that accept several scale along axis 1" if vector else ""
