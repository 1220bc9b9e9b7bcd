"""One question to the rules: this node, from that schema version to this one, with what is known around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from onnx import NodeProto

from qdqtool.dtypes import ElementType
from qdqtool.opsets.attributes import Value
from qdqtool.opsets.forms import ABSENT, Form
from qdqtool.opsets.schemas import Schema

Shape = tuple[int | str | None, ...]
Shapes = tuple[Shape | None, ...]
Constants = tuple[tuple[int, ...] | None, ...]
ShapeOf = Callable[[str], Sequence[int | str | None] | None]
ValueOf = Callable[[str], Sequence[int] | None]


@dataclass(frozen=True, slots=True)
class Use:
    """`target` is the opset moved to. `shapes` and `constants` hold one entry for each input, None where not known."""

    form: Form
    values: Mapping[str, Value]
    old: Schema
    new: Schema
    target: int
    shapes: Shapes
    constants: Constants

    @property
    def up(self) -> bool:
        return self.new.since > self.old.since

    def effective(self, name: str) -> Value | None:
        """What the attribute amounts to at the source: written, or the default of that version."""
        if name in self.values:
            return self.values[name]
        declared = self.old.attributes.get(name)
        return declared.default if declared else None

    def has_input(self, index: int) -> bool:
        return index < len(self.form.inputs) and self.form.inputs[index] is not ABSENT

    def has_output(self, index: int) -> bool:
        return index < len(self.form.outputs) and self.form.outputs[index] is not ABSENT

    def input_type(self, index: int) -> ElementType | None:
        return _element(self.form.inputs, index)

    def output_type(self, index: int) -> ElementType | None:
        return _element(self.form.outputs, index)

    def shape(self, index: int) -> Shape | None:
        return self.shapes[index] if index < len(self.shapes) else None

    def rank(self, index: int) -> int | None:
        shape = self.shape(index)
        return None if shape is None else len(shape)

    def constant(self, index: int) -> tuple[int, ...] | None:
        return self.constants[index] if index < len(self.constants) else None


def _element(operands: Sequence[object], index: int) -> ElementType | None:
    operand = operands[index] if index < len(operands) else None
    return operand if isinstance(operand, ElementType) else None


def shapes_of(node: NodeProto, shape_of: ShapeOf | None) -> Shapes:
    """Shapes of the inputs."""
    found = [shape_of(name) if shape_of and name else None for name in node.input]
    return tuple(None if shape is None else tuple(shape) for shape in found)


def constants_of(node: NodeProto, asked: Mapping[str, tuple[str, int]], value_of: ValueOf | None) -> Constants:
    """The constant inputs asked for: by operator, an attribute that makes one matter, and its position."""
    attribute, index = asked.get(node.op_type, ("", 0))
    if value_of is None or index >= len(node.input) or not any(a.name == attribute for a in node.attribute):
        return ()
    found = value_of(node.input[index])
    return (*[None] * index, None if found is None else tuple(int(i) for i in found))
