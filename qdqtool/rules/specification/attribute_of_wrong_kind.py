"""An attribute holds another kind of value than its operator declares: a float where an integer is due, a list for a number.

**Why it matters**: ONNX Runtime refuses the model; readers that do not look at the kind read 0.

**Bad**: ``axis = 1.0``

**Good**: ``axis = 1``

**Fix**: write the value in the declared kind.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.operators import reasons
from qdqtool.linting.subject import Subject

CODE = "QDQ107"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for place, reason in reasons(subject, "attribute of another kind"):
        yield subject.problem(place, reason.text, "write the value in that kind", about=reason.subject)
