"""A node, or the list of outputs, names a value that no node, input or initializer defines.

**Why it matters**: ONNX Runtime refuses the model. It comes from removing initializers, or from values of a subgraph that are
read outside.

**Bad**: ``DequantizeLinear(w, w_scale)`` where nothing is called ``w_scale``

**Good**: with an initializer ``w_scale``

**Fix**: define the value, or export the model again.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ154"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    yield from (
        Problem(f.where, f.message, "define the value, or export the model again") for f in subject.faults if f.code == "undefined-value"
    )
