"""``ir_version`` is below 4, and an initializer is not listed among the graph inputs.

**Why it matters**: before IR 4 every initializer is the default of an input. ``onnx.checker`` refuses the model; ONNX Runtime
takes the initializer as a constant.

**Bad**: ``ir_version: 3`` with an initializer that is no input

**Good**: ``ir_version: 4``

**Fix**: ``--fix`` raises ``ir_version`` to 4, where such initializers are constants.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Fix, Problem
from qdqtool.linting.subject import Subject
from qdqtool.model import versions

CODE = "QDQ151"
SEVERITY = "warning"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    proto = subject.proto
    listed = {value.name for value in proto.graph.input}
    missing = [t.name for t in proto.graph.initializer if t.name not in listed]
    if proto.ir_version < versions.FREE_INITIALIZERS and missing:
        message = f"{len(missing)} initializers, first '{missing[0]}', are no graph inputs, which ir_version {proto.ir_version} asks for"
        fix = Fix("raise ir_version to 4", True, lambda: versions.raise_to(proto, versions.FREE_INITIALIZERS))
        yield Problem("", message, "raise ir_version to 4", about="initializer", fix=fix)
