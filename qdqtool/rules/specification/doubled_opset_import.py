"""A domain is imported twice, or once as ``ai.onnx`` and once by its empty name.

**Why it matters**: which version counts is not said. ONNX Runtime takes the last, other readers the first or none.

**Bad**: ``opset_import: ["" : 17, "ai.onnx" : 13]``

**Good**: ``opset_import: ["" : 17]``

**Fix**: keep the entry that the nodes were written for.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import domain
from qdqtool.model.walk import holders

CODE = "QDQ104"
SEVERITY = "warning"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    for holder, at in holders(subject.proto):
        versions: dict[str, list[int]] = {}
        for entry in holder.opset_import:
            versions.setdefault(domain(entry.domain), []).append(entry.version)
        for name, found in versions.items():
            if len(found) > 1:
                whose = f"the domain '{name}'" if name else "the main domain"
                message = f"{whose} is imported {len(found)} times ({', '.join(map(str, found))}); ONNX Runtime takes {found[-1]}"
                yield Problem(at, message, "keep the entry that the nodes were written for", about=name)
