"""Nodes wait for each other: each reads, directly or through others, what it makes.

**Why it matters**: no order exists in which they could run. ONNX Runtime refuses the model.

**Bad**: ``a = Relu(b)``, ``b = Relu(a)``

**Good**: ``a = Relu(x)``, ``b = Relu(a)``

**Fix**: export the model again, or correct the input that closes the ring.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ155"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    yield from (Problem(f.where, f.message, "export the model again") for f in subject.faults if f.code == "cycle")
