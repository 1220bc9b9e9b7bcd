"""Two tensors share a part of their external data, and not all of it.

**Why it matters**: equal ranges are tied weights, partly equal ones a wrong offset: one of the two reads what was not written for
it, and nothing says so.

**Bad**: one tensor at bytes 0 to 64, another at 32 to 96

**Good**: 0 to 64 and 64 to 128

**Fix**: export the model again, each tensor behind the one before.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ162"
SEVERITY = "warning"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    for fault in subject.references:
        if fault.code == "data-overlap":
            yield Problem("", fault.message, "export model and data again", about=fault.location)
