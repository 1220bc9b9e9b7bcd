"""Values that depend on float16, which ONNX Runtime keeps in float32 between nodes where it can."""

from __future__ import annotations

from collections.abc import Iterable, Set

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

from qdqtool.model.structure import order, reads
from qdqtool.model.walk import node_tensors

_HALF = TensorProto.FLOAT16
_NAMING = ("to", "dtype", "output_dtype", "precision")


def halves(model: ModelProto) -> frozenset[str]:
    """Values of the main graph that are computed in, or from, float16."""
    functions = {(f.domain, f.name) for f in model.functions if any(map(_names_half, _nodes(f)))}
    return frozenset(_of_graph(model.graph, functions))


def _of_graph(graph: GraphProto, functions: Set[tuple[str, str]]) -> set[str]:
    found = {tensor.name for tensor in graph.initializer if tensor.data_type == _HALF}
    found |= {info.name for info in (*graph.input, *graph.value_info, *graph.output) if _is_half(info)}
    for index in order(graph.node):
        node = graph.node[index]
        if found & reads(node) or (node.domain, node.op_type) in functions or any(map(_names_half, _within(node))):
            found.update(node.output)
    return found


def _is_half(info: ValueInfoProto) -> bool:
    return info.type.tensor_type.elem_type == _HALF


def _names_half(node: NodeProto) -> bool:
    stated = any(a.name in _NAMING and a.i == _HALF for a in node.attribute)
    return stated or any(tensor.data_type == _HALF for tensor in node_tensors(node))


def _within(node: NodeProto) -> Iterable[NodeProto]:
    """The node and all nodes of its bodies."""
    yield node
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield from _nodes(attribute.g)


def _nodes(body: GraphProto | FunctionProto) -> Iterable[NodeProto]:
    for node in body.node:
        yield from _within(node)
