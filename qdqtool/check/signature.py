"""What a model takes and gives, read once so that the model itself need not stay in memory."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, ValueInfoProto

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.errors import Usage

Size = int | str | None


@dataclass(frozen=True, slots=True)
class Input:
    """One required input; `dtype` is None when it is no tensor, `dims` when its rank is unknown.

    `limit` ends an index's range; `zero` tells that nothing else is allowed: a zero point of a small float.
    """

    name: str
    dtype: ElementType | None
    dims: tuple[Size, ...] | None
    limit: int | None = None
    zero: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """Inputs without a default, outputs, and the number of bytes its constants occupy."""

    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]


_STEPS = ("QuantizeLinear", "DequantizeLinear")
_PASSES_INDICES = ("Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose", "Expand", "Concat", "Slice", "Clip")
_PASSES_TABLE = ("DequantizeLinear", "QuantizeLinear", "Cast", "Identity")
# Operators that look something up: positions of the table and of the indices.
_LOOKUPS = {
    "Gather": (0, (1,)),
    "GatherElements": (0, (1,)),
    "GatherBlockQuantized": (0, (1,)),
    "EmbedLayerNormalization": (2, (0,)),
}


def signature(model: ModelProto) -> Signature:
    """Read it off the main graph; inputs that have an initializer keep it and are no inputs here."""
    graph = model.graph
    defaults = {tensor.name for tensor in graph.initializer} | {sparse.values.name for sparse in graph.sparse_initializer}
    limits, zero_points = _limits(graph), {name for node in graph.node if node.op_type in _STEPS for name in node.input[2:3]}
    inputs = tuple(_input(info, limits, zero_points) for info in graph.input if info.name not in defaults)
    return Signature(inputs, tuple(output.name for output in graph.output))


def _input(info: ValueInfoProto, limits: Mapping[str, int], zero_points: Set[str]) -> Input:
    if info.type.WhichOneof("value") != "tensor_type":
        return Input(info.name, None, None)
    tensor = info.type.tensor_type
    dims = tuple(_size(dim) for dim in tensor.shape.dim) if tensor.HasField("shape") else None
    dtype = dtypes.of_code(tensor.elem_type)
    zero = info.name in zero_points and dtype is not None and dtype.small_float
    return Input(info.name, dtype, dims, limits.get(info.name), zero)


def _size(dimension: object) -> Size:
    kind = dimension.WhichOneof("value")  # type: ignore[attr-defined]
    return None if kind is None else getattr(dimension, kind)


def _limits(graph: GraphProto) -> dict[str, int]:
    """For every value that ends up as an index: the length of the shortest table it looks into."""
    lengths = _lengths(graph)
    limits: dict[str, int] = {}
    for node in reversed(graph.node):
        for name, limit in _limited(node, lengths, limits):
            limits[name] = min(limit, limits.get(name, limit))
    return limits


def _limited(node: NodeProto, lengths: Mapping[str, tuple[int, ...]], limits: Mapping[str, int]) -> list[tuple[str, int]]:
    """The inputs of one node that must stay below a limit."""
    if node.op_type in _LOOKUPS:
        table, positions = _LOOKUPS[node.op_type]
        shape = lengths.get(node.input[table]) if table < len(node.input) else None
        axis = next((a.i for a in node.attribute if a.name in ("axis", "gather_axis")), 0)
        if not shape or not -len(shape) <= axis < len(shape):
            return []
        return [(node.input[p], shape[axis]) for p in positions if p < len(node.input)]
    if node.op_type in _PASSES_INDICES and node.output and node.output[0] in limits:
        return [(node.input[0], limits[node.output[0]])] if node.input else []
    return []


def _lengths(graph: GraphProto) -> dict[str, tuple[int, ...]]:
    """Shapes of constants and of what is computed from them without moving anything."""
    lengths = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            value = next((a.t for a in node.attribute if a.type == AttributeProto.TENSOR), None)
            lengths |= {node.output[0]: tuple(value.dims)} if value is not None else {}
        elif node.op_type in _PASSES_TABLE and node.input[0] in lengths:
            lengths[node.output[0]] = lengths[node.input[0]]
    return lengths


def require_known(signature: Signature, dims: Mapping[str, int]) -> None:
    """Usage when a size is given to a dimension that no input has."""
    named = {str(size) for port in signature.inputs for size in port.dims or () if isinstance(size, str)}
    placed = {f"{port.name}:{axis}" for port in signature.inputs for axis in range(len(port.dims or ()))}
    unknown = sorted(set(dims) - named - placed)
    if unknown:
        hint = f"its symbolic dimensions are {', '.join(sorted(named))}" if named else "it has no symbolic dimensions"
        raise Usage("unknown-dimension", f"no input has a dimension '{unknown[0]}'", hint=hint)
