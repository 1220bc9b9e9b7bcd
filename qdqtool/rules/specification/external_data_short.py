"""The file that holds external data ends before the data of a tensor does.

**Why it matters**: a cut download, or the data of another export under the same name. ONNX Runtime refuses the model.

**Bad**: a tensor at bytes 0 to 4096 of a file of 1024 bytes

**Good**: the file in full length

**Fix**: fetch or export model and data together.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ161"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    for fault in subject.references:
        if fault.code == "data-short":
            yield Problem("", fault.message, "fetch or export model and data together", about=fault.location)
