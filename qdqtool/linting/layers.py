"""The operators that multiply by weights, and the dequantize nodes that feed them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qdqtool.expressions import is_const
from qdqtool.model.graph import Place

if TYPE_CHECKING:
    from qdqtool.linting.subject import Subject

THROUGH = ("Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
"""Operators between a dequantize node and the operator it is meant for."""

_LONGEST = 8


@dataclass(frozen=True, slots=True)
class Operand:
    """Input `slot` of a layer: the dequantize node that makes it, through the nodes `between` (nearest the layer first)."""

    name: str
    slot: int
    step: Place | None
    between: tuple[Place, ...]
    constant: bool

    @property
    def direct(self) -> bool:
        return self.step is not None and not self.between


@dataclass(frozen=True, slots=True)
class Layer:
    """A Conv, ConvTranspose, Gemm or MatMul."""

    place: Place
    op: str
    data: Operand
    weight: Operand
    bias: Operand | None


def layers_of(subject: Subject) -> list[Layer]:
    """All of them; of the two sides of a product the weight is the one with constant codes, else the second."""
    return list(_layers(subject))


def _layers(subject: Subject) -> Iterator[Layer]:
    for place in subject.nodes("Conv", "ConvTranspose", "Gemm", "MatMul"):
        node = subject.node(place)
        found = [_operand(subject, place, slot) for slot in range(min(3, len(node.input)))]
        if len(found) < 2:
            continue
        data, weight, *bias = found
        swap = node.op_type in ("Gemm", "MatMul") and is_weight(subject, data) and not is_weight(subject, weight)
        data, weight = (weight, data) if swap else (data, weight)
        yield Layer(place, node.op_type, data, weight, bias[0] if bias and bias[0].name else None)


def is_weight(subject: Subject, operand: Operand) -> bool:
    """Made of constant codes, or of a constant that is quantized when the model runs."""
    if operand.step is None:
        return False
    lifted = subject.steps[operand.step]
    maker = subject.producer(operand.step, lifted.source.order[0])
    return is_const(lifted.step.x) or (maker is not None and maker in subject.steps and is_const(subject.steps[maker].step.x))


def _operand(subject: Subject, place: Place, slot: int) -> Operand:
    name = subject.node(place).input[slot]
    between: list[Place] = []
    found = subject.view.find(subject.scope(place), name) if name else None
    at = Place(found.key.scope, found.index) if found is not None and found.kind == "node" else None
    while at is not None and len(between) < _LONGEST:
        if at in subject.steps:
            step = at if subject.steps[at].step.meaning.kind == "dequantize" else None
            return Operand(name, slot, step, tuple(between), False)
        node = subject.node(at)
        if node.op_type not in THROUGH or node.domain not in ("", "ai.onnx"):
            break
        between.append(at)
        at = subject.producer(at, 0)
    return Operand(name, slot, None, (), found is not None and subject.constants.constant(found) is not None)


def axes(subject: Subject, layer: Layer, rank: int) -> tuple[int, int]:
    """The weight's output channel axis and the axis that is summed over."""
    second = layer.weight.slot == 1
    if layer.op == "Conv":
        return 0, 1
    if layer.op == "ConvTranspose":
        return 1, 0
    if layer.op == "MatMul":
        return (rank - 1, rank - 2) if second else (rank - 2, rank - 1)
    transposed = subject.attribute(layer.place, "transB" if second else "transA")
    return (1, 0) if second is not (transposed is not None and transposed.i != 0) else (0, 1)
