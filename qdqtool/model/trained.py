"""What the training graphs of a model have to do with its main graph."""

from __future__ import annotations

from collections.abc import Iterator

from onnx import GraphProto, ModelProto

from qdqtool.model.structure import reads


def graphs(model: ModelProto) -> Iterator[GraphProto]:
    """Both graphs of each training info."""
    for training in model.training_info:
        yield from (training.initialization, training.algorithm)


def updated(model: ModelProto) -> frozenset[str]:
    """Initializers of the main graph that training sets, and which are therefore no constants."""
    return frozenset(b.key for t in model.training_info for b in (*t.initialization_binding, *t.update_binding))


def read(model: ModelProto) -> frozenset[str]:
    """Names that training graphs read, those of values of their own among them."""
    return frozenset(name for graph in graphs(model) for node in graph.node for name in reads(node))
