"""Two nodes, inputs or initializers of one graph define a value of the same name.

**Why it matters**: every value is assigned once; which of the two a reader means is not said. ONNX Runtime refuses the model.

**Bad**: two nodes with the output ``q``

**Good**: outputs ``q`` and ``q_1``

**Fix**: rename one of them and its readers. It comes from merging models without prefixes.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ153"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    yield from (Problem(f.where, f.message, "rename one of them and its readers") for f in subject.faults if f.code == "defined-twice")
