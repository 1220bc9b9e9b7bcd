"""Attribute values as plain hashable data, so that nodes can be compared and verdicts remembered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from onnx import AttributeProto

from qdqtool import dtypes
from qdqtool.dtypes import ElementType

KINDS: Mapping[int, str] = {number: name for name, number in AttributeProto.AttributeType.items()}


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that no rule looks into: a graph, a type, a reference to a function's attribute, or a tensor (by its element type)."""

    kind: str
    element: int = 0


Value = int | float | bytes | tuple[int, ...] | tuple[float, ...] | tuple[bytes, ...] | Opaque
Values = tuple[tuple[str, str, Value], ...]


def value(attribute: AttributeProto) -> Value:
    """The value as plain data; strings stay bytes."""
    if attribute.ref_attr_name:
        return Opaque("REF")
    match attribute.type:
        case AttributeProto.INT:
            return attribute.i
        case AttributeProto.FLOAT:
            return attribute.f
        case AttributeProto.STRING:
            return attribute.s
        case AttributeProto.INTS:
            return tuple(attribute.ints)
        case AttributeProto.FLOATS:
            return tuple(attribute.floats)
        case AttributeProto.STRINGS:
            return tuple(attribute.strings)
        case AttributeProto.TENSOR:
            return Opaque("TENSOR", attribute.t.data_type)
        case AttributeProto.SPARSE_TENSOR:
            return Opaque("SPARSE_TENSOR", attribute.sparse_tensor.values.data_type)
        case _:
            return Opaque(KINDS.get(attribute.type, "UNDEFINED"))


def values(attributes: Iterable[AttributeProto]) -> Values:
    """Name, kind and value of each attribute, in the node's order."""
    return tuple((a.name, KINDS.get(a.type, "UNDEFINED"), value(a)) for a in attributes)


_TYPE_ATTRIBUTES = ("to", "dtype", "output_dtype", "output_datatype")
_VALUE_TYPES = {
    "value_float": dtypes.FLOAT,
    "value_floats": dtypes.FLOAT,
    "value_int": dtypes.INT64,
    "value_ints": dtypes.INT64,
    "value_string": dtypes.STRING,
    "value_strings": dtypes.STRING,
}


def stated_output_type(op: str, attributes: Mapping[str, Value]) -> ElementType | None:
    """Element type of the first output when an attribute states it (``Cast``, ``Constant``, ``EyeLike`` ...)."""
    if op in ("Constant", "ConstantOfShape"):
        return _constant_type(attributes)
    if op == "SequenceEmpty":
        return None
    for name in _TYPE_ATTRIBUTES:
        code = attributes.get(name)
        if isinstance(code, int) and code:
            return dtypes.of_code(code)
    return None


def _constant_type(attributes: Mapping[str, Value]) -> ElementType | None:
    for name in attributes:
        if name in _VALUE_TYPES:
            return _VALUE_TYPES[name]
    tensor = attributes.get("value", attributes.get("sparse_value"))
    return dtypes.of_code(tensor.element) if isinstance(tensor, Opaque) else None


def show(item: Value) -> str:
    """The value as a user would write it."""
    if isinstance(item, bytes):
        return item.decode("utf-8", "replace")
    if isinstance(item, tuple):
        return "[" + ", ".join(show(x) for x in item) + "]"
    return f"a {item.kind.lower()}" if isinstance(item, Opaque) else f"{item:g}"
