"""Every tensor of a model, wherever it may stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, SparseTensorProto, TensorProto


def tensors(model: ModelProto) -> Iterator[TensorProto]:
    """Initializers, sparse ones, attributes of all nodes, in the main graph, subgraphs, functions and training info."""
    yield from graph_tensors(model.graph)
    for function in model.functions:
        yield from _of_attributes(function.attribute_proto)
        yield from _of_nodes(function.node)
    for training in model.training_info:
        yield from graph_tensors(training.initialization)
        yield from graph_tensors(training.algorithm)


def graph_tensors(graph: GraphProto) -> Iterator[TensorProto]:
    """The same for one graph and all below it."""
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from _of_sparse(sparse)
    yield from _of_nodes(graph.node)


def node_tensors(node: NodeProto) -> Iterator[TensorProto]:
    """The same for one node and all below it."""
    return _of_attributes(node.attribute)


def holders(model: ModelProto) -> Iterator[tuple[ModelProto | FunctionProto, str]]:
    """What imports opsets, with its name in messages: the model (empty) and its functions."""
    yield model, ""
    yield from ((function, f"function {function.name}") for function in model.functions)


def below(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """Nodes, and those of their subgraphs."""
    for node in nodes:
        yield node
        for attribute in node.attribute if node.attribute else ():
            for graph in (*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs):
                yield from below(graph.node)


def _of_nodes(nodes: Iterable[NodeProto]) -> Iterator[TensorProto]:
    for node in nodes:
        if node.attribute:
            yield from _of_attributes(node.attribute)


def _of_attributes(attributes: Iterable[AttributeProto]) -> Iterator[TensorProto]:
    for attribute in attributes:
        if attribute.type in _PLAIN:
            continue
        if attribute.HasField("t"):
            yield attribute.t
        yield from attribute.tensors
        if attribute.HasField("sparse_tensor"):
            yield from _of_sparse(attribute.sparse_tensor)
        for sparse in attribute.sparse_tensors:
            yield from _of_sparse(sparse)
        if attribute.HasField("g"):
            yield from graph_tensors(attribute.g)
        for graph in attribute.graphs:
            yield from graph_tensors(graph)


def _of_sparse(sparse: SparseTensorProto) -> Iterator[TensorProto]:
    yield sparse.values
    yield sparse.indices


_PLAIN = frozenset(
    (
        AttributeProto.FLOAT,
        AttributeProto.INT,
        AttributeProto.STRING,
        AttributeProto.FLOATS,
        AttributeProto.INTS,
        AttributeProto.STRINGS,
    )
)
