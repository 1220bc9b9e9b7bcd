"""A function of the model calls itself, directly or through others.

**Why it matters**: calls are inlined, which never ends here. ONNX Runtime refuses the model.

**Bad**: function ``f`` with a node ``f``

**Good**: function ``f`` of operators

**Fix**: write what was meant in place of the call; a function may share its name with an operator of another domain only.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ156"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    yield from (
        Problem(f.where, f.message, "write the operators in place of the call") for f in subject.faults if f.code == "recursive-function"
    )
