"""Offset or length of external data are no byte counts, or the length is not what type and shape ask for.

**Why it matters**: where the data of the tensor lies is not defined. ONNX Runtime refuses the model.

**Bad**: ``length: 12`` for float32 [4]; ``offset: -8``

**Good**: ``length: 16``; ``offset: 0``

**Fix**: export model and data again.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ165"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    for fault in subject.references:
        if fault.code == "data-reference":
            yield Problem("", fault.message, "export model and data again", about=fault.location)
