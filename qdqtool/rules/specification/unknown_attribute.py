"""A node has an attribute that its operator does not have at the imported opset.

**Why it matters**: ONNX Runtime and the checker refuse the model, even where the attribute says what is the default anyway.

**Bad**: ``DequantizeLinear`` with ``axis`` at opset 12; ``block_size`` at 19; ``com.microsoft.QuantizeLinear`` with ``saturate``

**Good**: the same at the opset that brought the attribute: ``axis`` 13, ``saturate`` 19, ``block_size`` and ``output_dtype`` 21,
``precision`` 23

**Fix**: import the opset that the attribute came with, when all other operators allow it (``qdqtool convert`` then moves the
model to any other), or take the attribute away.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.causes import by_cause
from qdqtool.linting.operators import reasons
from qdqtool.linting.subject import Subject

CODE = "QDQ105"
SEVERITY = "error"
STAGE = "graph"

HINT = "import the opset that has the attribute, or take it away"


def check(subject: Subject) -> Iterator[Problem]:
    for place, reason, more in by_cause(reasons(subject, "unknown attribute")):
        yield subject.problem(place, reason.text + more, HINT, about=reason.subject)
