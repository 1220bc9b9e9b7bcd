"""Operands of an operator other than Q and DQ have different types where its specification wants one.

**Why it matters**: ONNX casts nothing by itself, so the node has no meaning and ONNX Runtime refuses it.

**Bad**: ``MatMul`` of a float32 activation and a float16 weight

**Good**: both float16, e.g. ``DequantizeLinear`` with a float16 scale

**Fix**: give the scale of the dequantize the type of the other operand, or insert a Cast.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.operators import reasons
from qdqtool.linting.subject import Subject

CODE = "QDQ112"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for place, reason in reasons(subject, "link"):
        yield subject.problem(
            place, reason.text, "give the scale of a dequantize the type of the other operands, or cast", about=reason.subject
        )
