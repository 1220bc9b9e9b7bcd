"""The ``ir_version`` of a result: as high as its content needs, as low as readers of its opset expect.

Sources: the version notes in onnx.proto 1.23 (what came with which IR) and ``onnx.helper.VERSION_TABLE``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from onnx import IR_VERSION, AttributeProto, GraphProto, ModelProto, NodeProto, TypeProto, ValueInfoProto, helper

from qdqtool import dtypes
from qdqtool.errors import Usage
from qdqtool.model.graph import subgraphs
from qdqtool.model.walk import tensors

FREE_INITIALIZERS = 4
"""From this IR on an initializer that is no graph input is a constant; before, all of them are, and all are listed as inputs."""

_TYPE_ATTRIBUTES = ("to", "dtype", "output_dtype")

Need = tuple[int, str]


def settle_ir_version(
    proto: ModelProto, *, source_opset: int, target_opset: int, wanted: int | Literal["keep"] | None = None, limit: int | None = None
) -> list[str]:
    """Set the ``ir_version`` of a finished result, and say what changed.

    By default it is raised to what element types, functions, overloads, device configurations and the like need, and
    on a downgrade lowered to that of the first release with the target opset (not below 4 unless it was before).
    Metadata, which readers may ignore, holds nothing up. `limit` is the highest that the runtime aimed at takes, no less
    than what is needed. Leaving IR 3 takes initializers out of the graph inputs, since at IR 3 they are constants.

    Raises
    ------
    Usage
        `wanted` is an IR that cannot hold the model, or that the installed onnx or the reader does not know.
    """
    old = proto.ir_version
    need, reason = needed(proto)
    new = _choose(old, need, source_opset, target_opset, wanted)
    if new < need or new > IR_VERSION:
        why = f"{reason} needs {need}" if new < need else f"the installed onnx knows none above {IR_VERSION}"
        raise Usage("ir-version", f"ir_version {new} cannot hold the result", why=why, hint="leave out --ir-version")
    if limit is not None and new > limit:
        new = _limited(new, limit, wanted)
    proto.ir_version = new
    notes = [] if new == old else [f"ir_version {old} became {new}" + (f": {reason} needs it" if new > old and wanted is None else "")]
    return notes + (_free_initializers(proto) if old < FREE_INITIALIZERS <= new else [])


def needed(proto: ModelProto, *, free: bool = True) -> Need:
    """The lowest ``ir_version`` that may hold a model, and what asks for it; without `free`, initializers ask for nothing."""
    needs: list[Need] = list(_needs(proto))
    if free:
        needs += _free_need(proto)
    return max(needs, key=lambda need: need[0])


def raise_to(proto: ModelProto, version: int) -> None:
    """Set a higher ``ir_version``; constants stay constants."""
    if proto.ir_version < FREE_INITIALIZERS <= version:
        _free_initializers(proto)
    proto.ir_version = version


def of_release(opset: int) -> int:
    """``ir_version`` of the first ONNX release with that opset of ai.onnx."""
    known = [row for row in helper.VERSION_TABLE if row[2] >= opset]
    return int(known[0][1]) if known else IR_VERSION


def _choose(old: int, need: int, source: int, target: int, wanted: int | Literal["keep"] | None) -> int:
    if isinstance(wanted, int):
        return wanted
    if wanted == "keep":
        return old
    lowered = min(old, max(of_release(target), FREE_INITIALIZERS)) if target < source else old
    return max(lowered, need)


def _limited(new: int, limit: int, wanted: int | Literal["keep"] | None) -> int:
    if wanted is not None:
        raise Usage("ir-version", f"the runtime takes no ir_version {new}", why=f"it takes up to {limit}", hint="leave out --ir-version")
    return limit


def _free_initializers(proto: ModelProto) -> list[str]:
    names = {t.name for t in proto.graph.initializer} | {t.values.name for t in proto.graph.sparse_initializer}
    places = [index for index, value in enumerate(proto.graph.input) if value.name in names]
    for index in reversed(places):
        del proto.graph.input[index]
    return [f"{len(places)} initializers are no longer listed as graph inputs"] if places else []


def _needs(proto: ModelProto) -> Iterator[Need]:
    yield 3, "any model with an opset"
    yield from (_type_need(code) for code in dict.fromkeys(tensor.data_type for tensor in tensors(proto)))
    graphs = [proto.graph, *(g for t in proto.training_info for g in (t.initialization, t.algorithm))]
    for graph in graphs:
        yield from _graph_needs(graph)
    for function in proto.functions:
        yield 8, f"function {function.name}"
        if function.overload:
            yield 10, f"overload {function.overload} of function {function.name}"
        yield from _value_needs(function.value_info)
        yield from _node_needs(function.node)
    if proto.training_info:
        yield 7, "training_info"
    if proto.configuration:
        yield 11, "a device configuration"


def _free_need(proto: ModelProto) -> Iterator[Need]:
    listed = {value.name for value in proto.graph.input}
    if any(tensor.name not in listed for tensor in proto.graph.initializer):
        yield FREE_INITIALIZERS, "an initializer that is no graph input"


def _graph_needs(graph: GraphProto) -> Iterator[Need]:
    if graph.sparse_initializer:
        yield 6, "a sparse initializer"
    for values in (graph.input, graph.output, graph.value_info):
        yield from _value_needs(values)
    yield from _node_needs(graph.node)


def _value_needs(values: Iterable[ValueInfoProto]) -> Iterator[Need]:
    for value in values:
        yield from _of_type(value.type)


def _node_needs(nodes: Iterable[NodeProto]) -> Iterator[Need]:
    for node in nodes:
        if node.overload:
            yield 10, f"overload {node.overload} of {node.op_type}"
        if node.device_configurations:
            yield 11, "a device configuration"
        if not node.attribute:
            continue
        for attribute in node.attribute:
            if attribute.type == AttributeProto.INT and attribute.name in _TYPE_ATTRIBUTES:
                yield _type_need(attribute.i)
        for _, graph in subgraphs(node):
            yield from _graph_needs(graph)


def _of_type(held: TypeProto) -> Iterator[Need]:
    kind = held.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        yield _type_need(getattr(held, kind).elem_type)
    elif kind == "optional_type":
        yield 8, "an optional type"
        yield from _of_type(held.optional_type.elem_type)
    elif kind == "sequence_type":
        yield from _of_type(held.sequence_type.elem_type)
    elif kind == "map_type":
        yield from _of_type(held.map_type.value_type)


def _type_need(code: int) -> Need:
    element = dtypes.of_code(code)
    return (element.ir, f"element type {element}") if element else (0, "")
