"""Nodes made up from ``onnx.defs`` itself, read independently of qdqtool.opsets.schemas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from onnx import AttributeProto, NodeProto, defs, helper

from qdqtool import dtypes
from qdqtool.opsets.schemas import Type

OpSchema = defs.OpSchema
LIKED = ("tensor(float)", "tensor(int64)", "tensor(bool)", "tensor(int8)", "tensor(int32)", "tensor(string)")
NAMES = {"float": "float32", "double": "float64"}


@dataclass(frozen=True)
class Step:
    """Two consecutive versions of an operator."""

    op: str
    old: OpSchema
    new: OpSchema

    def __str__(self) -> str:
        return f"{self.op} {self.old.since_version}>{self.new.since_version}"


def steps() -> Iterator[Step]:
    """Every step to a version of opset 8 or later, in the main domain."""
    versions: dict[str, dict[int, OpSchema]] = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "":
            versions.setdefault(schema.name, {})[schema.since_version] = schema
    for op in sorted(versions):
        ordered = sorted(versions[op])
        for old, new in pairwise(ordered):
            if new >= 8:
                yield Step(op, versions[op][old], versions[op][new])


def types(schema: OpSchema, parameter: Any) -> frozenset[str]:
    """Types a formal parameter allows."""
    found = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    return frozenset(found.get(parameter.type_str, parameter.types))


def element(name: str) -> Type:
    """``tensor(float)`` as an element type; anything but a tensor stays a string."""
    if not name.startswith("tensor("):
        return name
    inner = name.removeprefix("tensor(").removesuffix(")")
    return dtypes.of_name(NAMES.get(inner, inner))


def default(attribute: OpSchema.Attribute) -> Any:
    """The attribute's default value, or None."""
    return helper.get_attribute_value(attribute.default_value) if attribute.default_value.name else None


def dummy(attribute: OpSchema.Attribute) -> AttributeProto:
    """The attribute with a value that is not its default."""
    kind, usual = str(attribute.type).rpartition(".")[2], default(attribute)
    made: Mapping[str, Any] = {
        "INT": 2 if usual is None or isinstance(usual, bytes) else int(not usual) if usual in (0, 1) else usual + 3,
        "FLOAT": 0.625,
        "STRING": b"something else",
        "INTS": [2, 2],
        "FLOATS": [0.5, 0.5],
        "STRINGS": [b"a"],
        "TENSOR": helper.make_tensor("t", 1, [1], [1.0]),
        "GRAPH": helper.make_graph([], "g", [], []),
        "SPARSE_TENSOR": helper.make_sparse_tensor(helper.make_tensor("v", 1, [0], []), helper.make_tensor("i", 7, [0], []), [1]),
        "TYPE_PROTO": helper.make_tensor_type_proto(1, [1]),
    }
    return helper.make_attribute(attribute.name, made[kind])


def liked(allowed: frozenset[str]) -> str:
    """One of the types, a common one where possible."""
    return next((name for name in LIKED if name in allowed), min(allowed))


def minimal(schema: OpSchema, *, inputs: int | None = None) -> tuple[NodeProto, dict[str, Type]]:
    """A node with its required attributes and operands (or the first `inputs`), and the types of its values."""
    count = _required(schema.inputs) if inputs is None else inputs
    given = [f"in{i}" for i in range(count)]
    results = [f"out{i}" for i in range(_required(schema.outputs))]
    node = helper.make_node(schema.name, given, results)
    node.attribute.extend(_required_attribute(a) for a in schema.attributes.values() if a.required)
    operands = [*zip(given, schema.inputs, strict=False), *zip(results, schema.outputs, strict=False)]
    return node, {name: element(liked(types(schema, parameter))) for name, parameter in operands}


def _required_attribute(attribute: OpSchema.Attribute) -> AttributeProto:
    return helper.make_attribute("to", 1) if attribute.name == "to" else dummy(attribute)


def _required(parameters: Any) -> int:
    return max((i + 1 for i, p in enumerate(parameters) if p.option != OpSchema.FormalParameterOption.Optional), default=0)


def with_type(schema: OpSchema, variable: str, name: str, table: Mapping[str, Type]) -> Callable[[str], Type | None]:
    """The same types, but one type parameter stands for another type."""
    operands = [*((f"in{i}", p) for i, p in enumerate(schema.inputs)), *((f"out{i}", p) for i, p in enumerate(schema.outputs))]
    changed = {value: element(name) for value, parameter in operands if parameter.type_str == variable}
    return lambda value: changed[value] if value in changed and value in table else table.get(value)
