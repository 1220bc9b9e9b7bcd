"""A node stands before one whose result it reads.

**Why it matters**: the specification wants nodes in the order in which they can run. ONNX Runtime sorts by itself;
``onnx.checker``, shape inference and readers that run nodes one after the other do not.

**Bad**: ``DequantizeLinear(q, ...)`` before the ``QuantizeLinear`` that makes q

**Good**: the other way round

**Fix**: sort the nodes; ``qdqtool convert`` and most other tools write them sorted.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import label
from qdqtool.model.structure import premature

CODE = "QDQ152"
SEVERITY = "warning"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    if not subject.view.tidy and not any(fault.code == "cycle" for fault in subject.faults):
        for scope in subject.view.scopes.values():
            early = premature(scope.nodes)
            if early:
                count = f"{len(early)} nodes stand" if len(early) > 1 else "1 node stands"
                message = f"{count} before one whose result is read there, first {label(scope.nodes[early[0]])}"
                yield Problem(scope.title(), message, "sort the nodes", about="order")
