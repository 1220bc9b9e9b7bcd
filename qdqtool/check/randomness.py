"""Which outputs depend on random operators, and so cannot be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

_RANDOM = frozenset(
    ("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial", "Bernoulli", "Sampling", "BiasDropout")
)


@dataclass(frozen=True, slots=True)
class _Known:
    """Functions by name, and the switches that are constantly off."""

    functions: Mapping[tuple[str, str], FunctionProto]
    off: frozenset[str]


def random_outputs(model: ModelProto) -> dict[str, str]:
    """Outputs of the main graph that depend on a random operator, each with that operator's name."""
    tainted = random_values(model)
    return {output.name: tainted[output.name] for output in model.graph.output if output.name in tainted}


def random_values(model: ModelProto) -> dict[str, str]:
    """The same for all values of the main graph."""
    bools = [tensor for tensor in model.graph.initializer if tensor.data_type == TensorProto.BOOL]
    off = frozenset(tensor.name for tensor in bools if not any(tensor.raw_data) and not any(tensor.int32_data))
    known = _Known({(f.domain, f.name): f for f in model.functions}, off)
    return _tainted(model.graph.node, {}, known)


def _tainted(nodes: Iterable[NodeProto], outer: Mapping[str, str], known: _Known) -> dict[str, str]:
    """Values that depend on a random operator; the nodes of odd models are not sorted, hence the repetition."""
    tainted, todo = dict(outer), list(nodes)
    while True:
        left = []
        for node in todo:
            if cause := _cause(node, tainted, known):
                tainted.update({name: cause for name in node.output if name})
            else:
                left.append(node)
        if len(left) == len(todo):
            return tainted
        todo = left


def _cause(node: NodeProto, tainted: Mapping[str, str], known: _Known) -> str:
    """The random operator a node is, holds or depends on; empty when there is none."""
    if node.op_type in _RANDOM or _drops(node, known):
        return f"{node.op_type} {node.name}".strip()
    for name in node.input:
        if name in tainted:
            return tainted[name]
    for graph in _graphs(node):
        inside = _tainted(graph.node, tainted, known)
        results = [*(name for name in inside if name not in tainted), *(o.name for o in graph.output if o.name in inside)]
        if results:
            return inside[results[0]]
    function = known.functions.get((node.domain, node.op_type))
    return next(iter(_tainted(function.node, {}, known).values()), "") if function is not None else ""


def _drops(node: NodeProto, known: _Known) -> bool:
    """Dropout is random only in training, its third input."""
    return node.op_type == "Dropout" and any(name and name not in known.off for name in node.input[2:3])


def _graphs(node: NodeProto) -> list[GraphProto]:
    return [a.g for a in node.attribute if a.type == AttributeProto.GRAPH]
