"""``precision`` of a quantize names no type that it can divide in.

**Why it matters**: the division has no meaning; ONNX Runtime refuses the model.

**Bad**: ``precision = 3`` (int8)

**Good**: ``precision = 1`` (float32)

**Fix**: name float32, float16 or bfloat16.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool import dtypes
from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.subject import Subject

CODE = "QDQ120"
SEVERITY = "error"
STAGE = "graph"

DIVIDES = frozenset({dtypes.FLOAT, dtypes.FLOAT16, dtypes.BFLOAT16, dtypes.DOUBLE})


def check(subject: Subject) -> Iterator[Problem]:
    return each(subject, _fault, "name float32, float16 or bfloat16", about="precision")


def _fault(form: Form) -> str:
    code = form.given.get("precision", 0) if form.row.precision else 0
    named = dtypes.of_code(code)
    return "" if not code or named in DIVIDES else f"precision {code} ({named or 'no type'}) is nothing to divide in"
