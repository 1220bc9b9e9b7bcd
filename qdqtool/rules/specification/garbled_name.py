"""Operator or domain of a node is no UTF-8 text.

**Why it matters**: the file is damaged; no runtime knows such an operator.

**Bad**: ``op_type: "Deq\\223antizeLinear"``

**Good**: ``op_type: "DequantizeLinear"``

**Fix**: fetch or export the model again.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ167"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    yield from (Problem(f.where, f.message, "fetch or export the model again") for f in subject.faults if f.code == "garbled-name")
