"""A constant has an element type that ONNX does not know, or a negative dimension.

**Why it matters**: its data cannot be read. ONNX Runtime refuses the model.

**Bad**: ``data_type: 0`` (undefined); ``dims: [-1, 4]``

**Good**: ``data_type: 22`` (int4); ``dims: [2, 4]``

**Fix**: store the constant again; upgrade ``onnx`` if the type is newer than the one installed.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ158"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    for name, error in subject.damaged:
        if error.code in ("element-type", "constant-shape"):
            yield Problem("", error.message, "store the constant again", about=name)
