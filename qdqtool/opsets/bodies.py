"""An operator as the function its schema gives, for opsets that do not have the operator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto, defs

from qdqtool.opsets.draft import Draft, Flight

# Bodies that only choose, compare or move values; the others sum up in another order than a kernel would.
EXACT = frozenset(
    {
        *("CastLike", "CenterCropPad", "Clip", "GreaterOrEqual", "LessOrEqual", "PRelu", "SequenceMap", "Shrink", "SpaceToDepth"),
        "ThresholdedRelu",
    }
)


def expand(draft: Draft) -> str | None:
    """Write the body of the draft's operator, its nodes each at the body's own opset."""
    found = body(draft)
    if isinstance(found, str):
        return found
    function, version = found
    schema = defs.get_schema(draft.node.op_type, draft.here, "")
    defaults = [a.default_value for a in schema.attributes.values() if a.default_value.name]
    draft.flights += [Flight(node, version) for node in inlined(draft.node, function, draft.fresh, defaults)]
    if draft.node.op_type not in EXACT:
        draft.rounds()
    return None


def body(draft: Draft) -> tuple[FunctionProto, int] | str:
    """The function body for the way the draft goes, and its opset; else why there is none."""
    op = draft.node.op_type
    schema: Any = defs.get_schema(op, draft.here, "")
    versions = sorted({*schema.function_opset_versions, *schema.context_dependent_function_opset_versions})
    if not versions:
        return ""
    version = max((v for v in versions if v <= draft.goal), default=versions[0])
    if version in schema.function_opset_versions:
        return FunctionProto.FromString(schema.get_function_with_opset_version(version)), version
    unknown = next((name for name in draft.node.input if name and draft.around.type(name) is None), None)
    # onnx crashes when it is asked for a body without types.
    if unknown is not None:
        return f"the type of {unknown} is not known here, on which the function body of {op} depends"
    types = [draft.around.proto(name).SerializeToString() for name in draft.node.input]
    try:
        found = schema.get_context_dependent_function_with_opset_version(version, draft.node.SerializeToString(), types)
    except RuntimeError:
        return f"onnx gives no function body of {op} for these types"
    return FunctionProto.FromString(found) if found else "", version  # type: ignore[return-value]


def inlined(
    node: NodeProto, function: FunctionProto, fresh: Callable[[str], str], defaults: Iterable[AttributeProto] = ()
) -> Iterator[NodeProto]:
    """The nodes of the body under names that fit the place of `node`, its attributes filled in."""
    names: dict[str, str] = {"": ""}
    names |= dict.fromkeys(function.input, "") | dict(zip(function.input, node.input, strict=False))
    names |= {inner: outer for inner, outer in zip(function.output, node.output, strict=False) if outer}
    given = {a.name: a for a in (*defaults, *function.attribute_proto, *node.attribute)}
    for name in (o for inner in function.node for o in inner.output):
        if name not in names:
            names[name] = fresh(name)
    for inner in function.node:
        yield renamed(bound(inner, given), names, fresh)


def bound(node: NodeProto, given: Mapping[str, AttributeProto]) -> NodeProto:
    """A node of a body with the caller's attributes in place of references; what the caller leaves out vanishes."""
    copy = NodeProto()
    copy.CopyFrom(node)
    del copy.attribute[:]
    for attribute in node.attribute:
        if attribute.ref_attr_name and attribute.ref_attr_name not in given:
            continue
        copy.attribute.append(given[attribute.ref_attr_name] if attribute.ref_attr_name else attribute)
        copy.attribute[-1].name = attribute.name
    for attribute in copy.attribute:
        for graph in (attribute.g,) if attribute.type == AttributeProto.GRAPH else attribute.graphs:
            nodes = [bound(n, given) for n in graph.node]
            del graph.node[:]
            graph.node.extend(nodes)
    return copy


def renamed(node: NodeProto, names: Mapping[str, str], fresh: Callable[[str], str] | None = None) -> NodeProto:
    """A node that reads and writes other values, also in its graphs, whose own values get `fresh` names."""
    copy = NodeProto()
    copy.CopyFrom(node)
    copy.input[:] = [names.get(name, name) for name in node.input]
    copy.output[:] = [names.get(name, name) for name in node.output]
    for attribute in copy.attribute:
        for graph in (attribute.g,) if attribute.type == AttributeProto.GRAPH else attribute.graphs:
            _rename_graph(graph, dict(names), fresh)
    return copy


def _rename_graph(graph: GraphProto, names: dict[str, str], fresh: Callable[[str], str] | None) -> None:
    own = [*(v.name for v in graph.input), *(t.name for t in graph.initializer), *(o for n in graph.node for o in n.output if o)]
    names |= {name: fresh(name) if fresh else name for name in dict.fromkeys(own)}
    for value in (*graph.input, *graph.output, *graph.value_info, *graph.initializer):
        value.name = names.get(value.name, value.name)
    nodes = [renamed(node, names, fresh) for node in graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
