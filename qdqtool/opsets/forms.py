"""A node reduced to what its legality depends on: operator, types of its operands, attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal, TypeGuard

from onnx import AttributeProto, NodeProto

from qdqtool.opsets import attributes as plain
from qdqtool.opsets.attributes import Value, Values
from qdqtool.opsets.schemas import Formal, Schema, Type, canonical


class _Missing(Enum):
    ABSENT = "absent"


# An optional operand that is left out; None means that it is there and its type is not known.
ABSENT: Final = _Missing.ABSENT
Operand = Type | Literal[_Missing.ABSENT] | None
TypeOf = Callable[[str], Type | None]


@dataclass(frozen=True, slots=True)
class Form:
    """Nodes with equal forms get equal verdicts, which are therefore remembered by form."""

    op: str
    domain: str
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    attributes: Values

    def values(self) -> dict[str, Value]:
        return {name: item for name, _, item in self.attributes}


def form(op: str, domain: str, inputs: Sequence[Operand], outputs: Sequence[Operand], attributes: Mapping[str, AttributeProto]) -> Form:
    """Form of an operator that need not be a node yet. A type that an attribute states fills an unknown first output."""
    values = plain.values(attributes.values())
    return Form(op, canonical(domain), tuple(inputs), _stated(op, tuple(outputs), values), values)


def of_node(node: NodeProto, type_of: TypeOf) -> Form:
    """Form of a node."""
    inputs = tuple(type_of(name) if name else ABSENT for name in node.input)
    outputs = tuple(type_of(name) if name else ABSENT for name in node.output)
    values = plain.values(node.attribute)
    return Form(node.op_type, canonical(node.domain), inputs, _stated(node.op_type, outputs, values), values)


def _stated(op: str, outputs: tuple[Operand, ...], values: Values) -> tuple[Operand, ...]:
    if not outputs or outputs[0] is not None:
        return outputs
    return (plain.stated_output_type(op, {name: item for name, _, item in values}), *outputs[1:])


def formal(parameters: Sequence[Formal], index: int) -> Formal | None:
    """The formal parameter at a position; a variadic one covers all that follow."""
    if index < len(parameters):
        return parameters[index]
    return parameters[-1] if parameters and parameters[-1].variadic else None


def known(operand: Operand) -> TypeGuard[Type]:
    """There, and of known type."""
    return operand is not None and operand is not ABSENT


def placed(shape: Form, schema: Schema) -> list[tuple[bool, int, Formal, Operand]]:
    """Every operand with its formal parameter: (is an output, position, formal, type); operands without one are left out."""
    both = ((False, schema.inputs, shape.inputs), (True, schema.outputs, shape.outputs))
    return [
        (is_output, index, parameter, operand)
        for is_output, parameters, operands in both
        for index, operand in enumerate(operands)
        if (parameter := formal(parameters, index)) is not None
    ]
