"""A constant holds more or less data than its type and shape ask for.

**Why it matters**: ONNX Runtime refuses the model. It comes from tools that change a type or shape and leave the data.

**Bad**: a uint16 zero point of one byte

**Good**: of two bytes

**Fix**: store the data again, in the type and shape that are declared.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ157"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    for name, error in subject.damaged:
        if error.code == "constant-length":
            yield Problem("", f"{error.message}; {error.why}", "store the data again", about=name)
