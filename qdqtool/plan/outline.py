"""A copy of a model without its weights, made for shape inference: headers stay, small integer constants stay, the rest goes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, helper

from qdqtool.capabilities import operators, row_at
from qdqtool.dialects import stand_ins
from qdqtool.model.graph import domain, subgraphs
from qdqtool.model.structure import order

SMALL = 1024
"""Bytes up to which a constant keeps its values: shapes, axes, split sizes."""


def of_model(model: ModelProto, graph: GraphProto) -> ModelProto:
    """A model around an outlined graph, importing every domain it uses."""
    light = ModelProto(ir_version=max(model.ir_version, 8), graph=graph)
    imports = {domain(o.domain): o.version for o in model.opset_import}
    imports.setdefault("", 1)
    _complete(imports, graph.node)
    for function in model.functions:
        light.functions.append(_function(function))
        imports.setdefault(function.domain, 1)
    light.opset_import.extend(helper.make_opsetid(name, version) for name, version in imports.items())
    return light


def _complete(imports: dict[str, int], nodes: Iterable[NodeProto]) -> None:
    for node in nodes:
        if node.domain:
            imports.setdefault(domain(node.domain), 1)
        for _, graph in subgraphs(node) if node.attribute else ():
            _complete(imports, graph.node)


def _function(function: FunctionProto) -> FunctionProto:
    light = FunctionProto()
    light.CopyFrom(function)
    return light


def of_graph(graph: GraphProto, *, tidy: bool = False) -> GraphProto:
    """The graph with headers instead of weights, nodes in a legal order, which a tidy one has already."""
    light = GraphProto(name=_text(graph.name))
    light.input.extend(graph.input)
    light.output.extend(graph.output)
    light.value_info.extend(graph.value_info)
    light.initializer.extend(_header(t) for t in graph.initializer)
    for sparse in graph.sparse_initializer:
        light.initializer.append(TensorProto(name=_text(sparse.values.name), data_type=sparse.values.data_type, dims=sparse.dims))
    nodes = list(graph.node)
    foreign = any(node.domain for node in nodes)  # only those ask for types
    types = {t.name: t.data_type for t in graph.initializer} if foreign else {}
    light.node.extend(of_node(nodes[i], types) for i in (range(len(nodes)) if tidy else order(nodes)))
    return light


def of_node(node: NodeProto, types: Mapping[str, int]) -> NodeProto:
    """A node without weights; one of another domain becomes what inference knows: a Q or DQ a Cast to the type it gives."""
    if not (node.domain or node.attribute):
        return node
    if domain(node.domain) and (domain(node.domain), node.op_type) in operators():
        x, result = _of_step(node, types)
        if x >= len(node.input) or not node.output:
            return node
        return helper.make_node("Cast", [_text(node.input[x])], [_text(node.output[0])], to=result)
    like = stand_ins().get((domain(node.domain), node.op_type))
    if like is None and not node.domain and all(_is_light(a) for a in node.attribute):
        return node
    light = NodeProto(op_type=node.op_type, domain=domain(node.domain), overload=node.overload)
    if like is not None and (plain := like([types.get(i) for i in node.input], {a.name: a.i for a in node.attribute})) is not None:
        light.op_type, slots = plain
        light.ClearField("domain")
        light.input.extend(node.input[slot] for slot in slots)
        light.output.extend(node.output)
        light.attribute.extend(_attribute(a) for a in node.attribute if a.name not in ("channels_last", "opset"))
        return light
    light.input.extend(node.input)
    light.output.extend(node.output)
    for attribute in node.attribute:
        light.attribute.append(_attribute(attribute))
    return light


def _of_step(node: NodeProto, types: Mapping[str, int]) -> tuple[int, int]:
    """Where the node has x, and the type of its result."""
    dialect, kind = operators()[domain(node.domain), node.op_type]
    row = row_at(dialect, kind, 1)
    x, scale, zero = row.order if row else (0, 1, 2)
    typed, default = (zero, TensorProto.UINT8) if kind == "quantize" else (scale, TensorProto.FLOAT)
    return x, types.get(node.input[typed], default) if len(node.input) > typed else default


def _is_light(attribute: AttributeProto) -> bool:
    return attribute.type not in (AttributeProto.GRAPH, AttributeProto.TENSOR)


def _attribute(attribute: AttributeProto) -> AttributeProto:
    if attribute.type == AttributeProto.GRAPH:
        return AttributeProto(name=_text(attribute.name), type=attribute.type, g=of_graph(attribute.g))
    if attribute.type == AttributeProto.TENSOR and attribute.t.ByteSize() > SMALL:
        return AttributeProto(name=_text(attribute.name), type=attribute.type, t=_header(attribute.t))
    return attribute


def _text(name: str) -> str:
    """A damaged file may give bytes, which protobuf does not take back."""
    return name if isinstance(name, str) else ""


def _header(tensor: TensorProto) -> TensorProto:
    if tensor.ByteSize() <= SMALL and not tensor.external_data:
        return tensor
    return TensorProto(name=_text(tensor.name), data_type=tensor.data_type, dims=tensor.dims)
