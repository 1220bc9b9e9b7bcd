"""Which values nodes read, in their graphs too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnx import AttributeProto, GraphProto, NodeProto


def graphs(node: NodeProto) -> Iterator[GraphProto]:
    """The graphs in a node's attributes."""
    for attribute in node.attribute:
        yield from (attribute.g,) if attribute.type == AttributeProto.GRAPH else attribute.graphs


def reads(node: NodeProto) -> set[str]:
    """Names a node reads, and those its graphs take from outside."""
    names = {name for name in node.input if name}
    for graph in graphs(node):
        inner = {name for below in graph.node for name in reads(below)} | {v.name for v in graph.output}
        names |= inner - _own(graph)
    return names


def _own(graph: GraphProto) -> set[str]:
    made = {name for node in graph.node for name in node.output}
    return made | {v.name for v in graph.input} | {t.name for t in graph.initializer}


def all_names(node: NodeProto) -> set[str]:
    """Every name a node mentions, at any depth."""
    inner = {name for graph in graphs(node) for below in graph.node for name in all_names(below)}
    return {*node.input, *node.output} | inner | {name for graph in graphs(node) for name in _own(graph)}


def alive(nodes: Iterable[NodeProto], wanted: Iterable[str]) -> list[NodeProto]:
    """The nodes, in their order, whose results are wanted or read by one that stays."""
    kept: list[NodeProto] = []
    needed = set(wanted)
    for node in reversed(list(nodes)):
        if needed & set(node.output):
            kept.append(node)
            needed |= reads(node)
    return kept[::-1]
