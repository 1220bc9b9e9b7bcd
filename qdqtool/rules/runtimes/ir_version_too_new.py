"""The model's ``ir_version`` is newer than what the runtime loads.

**Why it matters**: the file is refused before any node is looked at, though its operators may all be known.

**Bad**: ``ir_version = 13`` for a runtime that loads up to 10

**Good**: ``ir_version = 10``, when no type in the model needs more

**Fix**: ``qdqtool convert --for RUNTIME``, or ``--ir-version N``.

**Runtimes**: ONNX Runtime, as measured in its wheels.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ402"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    if subject.profile is None or subject.profile.ir is None:
        return
    version, highest = subject.proto.ir_version, subject.profile.ir[1]
    if version > highest:
        message = f"{subject.profile}: ir_version {version}; it loads up to {highest}"
        yield subject.problem(None, message, f"qdqtool convert --for {subject.profile}", about="ir_version")
