"""``ir_version`` is older than something that the model holds: an element type, a function, a sparse initializer ...

**Why it matters**: readers that look at it may refuse the model or misread it. ONNX Runtime and ``onnx.checker`` do not look.

**Bad**: ``ir_version: 9`` with int4 tensors, which came with 10

**Good**: ``ir_version: 10``

**Fix**: ``--fix`` raises it, as far as the runtime that is linted for loads it.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Fix, Problem
from qdqtool.linting.subject import Subject
from qdqtool.model import versions

CODE = "QDQ150"
SEVERITY = "warning"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    proto = subject.proto
    need, reason = versions.needed(proto, free=False)
    if proto.ir_version < need:
        limit = subject.profile.ir if subject.profile is not None else None
        fix = Fix(f"raise ir_version to {need}", limit is None or need <= limit[1], lambda: versions.raise_to(proto, need))
        yield Problem("", f"ir_version is {proto.ir_version}; {reason} needs {need}", "raise ir_version", about="ir_version", fix=fix)
