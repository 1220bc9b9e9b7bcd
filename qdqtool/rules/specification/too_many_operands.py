"""A node has more inputs or outputs than its operator has at the imported opset.

**Why it matters**: no runtime loads the model.

**Bad**: ``DequantizeLinear(x, scale, zero_point, axis)``

**Good**: ``DequantizeLinear<axis = 0>(x, scale, zero_point)``

**Fix**: take away what the operator does not have.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.operators import reasons
from qdqtool.linting.subject import Subject

CODE = "QDQ109"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for place, reason in reasons(subject, "input", "output"):
        if reason.subject == "too many":
            yield subject.problem(place, reason.text, "take away what the operator does not have", about=reason.kind)
