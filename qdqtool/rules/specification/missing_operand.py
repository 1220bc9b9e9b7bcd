"""A node lacks an input or output that its operator requires, or has an empty name in its place.

**Why it matters**: a scale that is not there is not 1: the node has no meaning.

**Bad**: ``QuantizeLinear(x)``; ``DequantizeLinear(x, "", zero_point)``

**Good**: ``QuantizeLinear(x, scale)``

**Fix**: name the operand.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.operators import reasons
from qdqtool.linting.subject import Subject

CODE = "QDQ110"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for place, reason in reasons(subject, "input", "output"):
        if reason.subject != "too many":
            yield subject.problem(place, reason.text, "name the operand", about=reason.subject)
