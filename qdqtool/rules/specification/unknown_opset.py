"""The model imports a version of the main domain that does not exist.

**Why it matters**: no operator has a meaning then. A version newer than the newest that the installed ``onnx`` package knows
cannot be told from one that does not exist.

**Bad**: ``opset_import: 0``; ``opset_import: 99``

**Good**: ``opset_import: 21``

**Fix**: write the opset that the exporter used; upgrade ``onnx`` if the model is newer.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnx import defs

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import imports_of
from qdqtool.model.walk import holders

CODE = "QDQ102"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    newest = defs.onnx_opset_version()
    for holder, at in holders(subject.proto):
        version = imports_of(holder.opset_import).get("")
        if version is not None and not 1 <= version <= newest:
            message = f"opset {version} of the main domain does not exist; the newest known is {newest}"
            yield Problem(at, message, "write the opset that the exporter used", about="opset_import")
