"""The file that holds external data is a git-lfs pointer, not the data.

**Why it matters**: a repository was cloned without git-lfs; the file has some 130 bytes of text.

**Bad**: a file that begins ``version https://git-lfs.github.com/spec/``

**Good**: the file that the pointer stands for

**Fix**: ``git lfs pull``.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ163"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    for fault in subject.references:
        if fault.code == "data-pointer":
            yield Problem("", fault.message, "`git lfs pull` fetches the data", about=fault.location)
