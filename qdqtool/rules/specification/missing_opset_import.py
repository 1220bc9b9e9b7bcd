"""Nodes use a domain that the model, or the function they stand in, does not import.

**Why it matters**: without a version the operators have no definition, and ONNX Runtime refuses the model. Of its own domains
(``com.microsoft``, ``ai.onnx.ml``) it takes the newest version without an import, which is a warning here: ``onnx.checker`` and
other readers refuse it.

**Bad**: ``com.microsoft.QuantizeLinear`` without ``opset_import: com.microsoft 1``

**Good**: with it

**Fix**: import the domain.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnx import ModelProto, NodeProto

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import domain, imports_of, label
from qdqtool.model.walk import below, holders

CODE = "QDQ103"
SEVERITY = "error"
STAGE = "file"

BUILT_IN = frozenset({"com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc", "ai.onnx.ml"})
"""Domains that ONNX Runtime 1.32 knows without an import."""


def check(subject: Subject) -> Iterator[Problem]:
    for holder, at in holders(subject.proto):
        imports = imports_of(holder.opset_import)
        used: dict[str, list[NodeProto]] = {}
        for node in below(holder.graph.node if isinstance(holder, ModelProto) else holder.node):
            used.setdefault(domain(node.domain), []).append(node)
        for name, nodes in used.items():
            if name not in imports:
                yield _problem(name, nodes, at)


def _problem(name: str, nodes: list[NodeProto], at: str) -> Problem:
    lenient = name in BUILT_IN
    count = f"{len(nodes)} nodes use" if len(nodes) > 1 else "1 node uses"
    whose = f"the domain '{name}'" if name else "the main domain"
    hint = f"import version 1 of '{name}'" if name else "import the opset that the exporter wrote for"
    place = f"{at or 'main'} / {label(nodes[0])}"
    consequence = "; ONNX Runtime takes its own version" if lenient else ""
    message = f"{count} {whose}, which is not imported{consequence}"
    return Problem(place, message, hint, about=name, severity="warning" if lenient else None)
