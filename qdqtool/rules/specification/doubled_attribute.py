"""A node has an attribute twice.

**Why it matters**: which of the two counts is not said; ONNX Runtime and ``onnx.checker`` refuse the model.

**Bad**: ``axis = 0`` and ``axis = 1``

**Good**: ``axis = 1``

**Fix**: take one away.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnx import ModelProto

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import label
from qdqtool.model.walk import below, holders

CODE = "QDQ129"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    for holder, at in holders(subject.proto):
        for node in below(holder.graph.node if isinstance(holder, ModelProto) else holder.node):
            if len(node.attribute) > 1:
                names = [a.name for a in node.attribute]
                doubled = next((name for name in names if names.count(name) > 1), None)
                if doubled is not None:
                    message = f"the node has the attribute {doubled} {names.count(doubled)} times"
                    yield Problem(f"{at or 'main'} / {label(node)}", message, "take one away", about=doubled)
