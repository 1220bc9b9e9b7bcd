"""Training graphs are kept as they are; a node in them that would not mean the same at the target is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from onnx import GraphProto, NodeProto

from qdqtool.capabilities import operators, row_at
from qdqtool.model import trained
from qdqtool.model.graph import MAIN, domain, label, subgraphs
from qdqtool.plan.entries import Refusal
from qdqtool.plan.legal import node_problems
from qdqtool.plan.refuse import OPERATOR

if TYPE_CHECKING:
    from qdqtool.plan.build import Builder


def refuse_changed(builder: Builder) -> None:
    """Refuse nodes of training graphs that do not mean the same at the target."""
    for graph in trained.graphs(builder.view.proto):
        for node in _nodes(graph):
            reasons = _reasons(builder, node)
            if reasons:
                at, hint = f"training_info / {label(node)}", "leave training_info out of the model"
                builder.plan.refusals.append(Refusal(at, OPERATOR, tuple(reasons), hint, scope=MAIN))


def _nodes(graph: GraphProto) -> Iterator[NodeProto]:
    for node in graph.node:
        yield node
        for _, below in subgraphs(node):
            yield from _nodes(below)


def _reasons(builder: Builder, node: NodeProto) -> list[str]:
    """As far as operators, attributes and numbers of operands tell: nobody types a training graph."""
    source, target = builder.view.scopes[MAIN].imports.get("", 1), builder.target.opset
    dialect, kind = operators().get((domain(node.domain), node.op_type), ("", None))
    if source == target or domain(node.domain):
        return []
    if kind is not None and row_at(dialect, kind, source) is not row_at(dialect, kind, target):
        return [f"{node.op_type} changed between opset {source} and {target}, and training graphs are kept as they are"]
    return node_problems(node, target)
