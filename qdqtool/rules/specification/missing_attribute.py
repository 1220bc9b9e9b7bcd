"""A node lacks an attribute that its operator requires.

**Why it matters**: there is no default, so the node has no meaning and no runtime loads it.

**Bad**: ``Cast(x)``

**Good**: ``Cast<to = 1>(x)``

**Fix**: write the attribute.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.operators import reasons
from qdqtool.linting.subject import Subject

CODE = "QDQ106"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for place, reason in reasons(subject, "missing attribute"):
        yield subject.problem(place, reason.text, "write the attribute", about=reason.subject)
