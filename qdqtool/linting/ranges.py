"""Which numbers codes can stand for, and which an operator can give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdqtool.dtypes import ElementType
from qdqtool.expressions import is_const
from qdqtool.kernels.scales import NORMAL
from qdqtool.linting.scales import Scale
from qdqtool.model.graph import Place
from qdqtool.quantization import Blocked, PerTensor

if TYPE_CHECKING:
    from qdqtool.linting.subject import Subject

INFINITE = float("inf")

Interval = tuple[float, float]

GIVEN: dict[str, Interval] = {
    **dict.fromkeys(("Relu", "Abs", "Exp", "Sqrt", "Softplus", "ReduceL1", "ReduceL2", "ReduceSumSquare"), (0.0, INFINITE)),
    **dict.fromkeys(("Sigmoid", "Softmax", "HardSigmoid"), (0.0, 1.0)),
    **dict.fromkeys(("Tanh", "Softsign", "Sin", "Cos", "Erf"), (-1.0, 1.0)),
}
"""All numbers an operator gives, whatever it reads."""

SIGNED = frozenset(("Tanh", "Softsign", "Erf", "LeakyRelu", "Elu", "Celu", "Selu", "Gelu", "HardSwish", "Mish", "Swish"))
"""Operators meant to let negative numbers through."""


def given(subject: Subject, place: Place | None) -> Interval | None:
    """The range of a node's results; None when it depends on what it reads."""
    if place is None or subject.node(place).domain not in ("", "ai.onnx"):
        return None
    node = subject.node(place)
    return bounds(subject, place) if node.op_type == "Clip" else GIVEN.get(node.op_type)


def bounds(subject: Subject, place: Place) -> Interval | None:
    """What a Clip lets through."""
    node, found = subject.node(place), [-INFINITE, INFINITE]
    for slot, name in ((0, "min"), (1, "max")):
        attribute = subject.attribute(place, name)
        given = node.input[slot + 1] if slot + 1 < len(node.input) else ""
        const = subject.constants.expression(subject.scope(place), given) if given else None
        if const is not None and not is_const(const):
            return None
        if is_const(const):
            found[slot] = float(subject.facts.ask("value_range", const)[0])
        elif attribute is not None:
            found[slot] = attribute.f
    return (found[0], found[1])


def of_step(subject: Subject, place: Place) -> Interval | None:
    """The numbers that the codes of a per-tensor integer step stand for; None where scale or zero point is not known."""
    if place not in subject.intervals:
        subject.intervals[place] = _of_step(subject, place)
    return subject.intervals[place]


def _of_step(subject: Subject, place: Place) -> Interval | None:
    step = subject.steps[place].step
    storage, zero = step.meaning.storage, step.zero_point
    if storage is None or not storage.integer or not isinstance(step.meaning.granularity, PerTensor) or not is_const(step.scale):
        return None
    if zero is not None and not is_const(zero):
        return None
    held = subject.facts.ask("scales", step.scale)
    if held.zero or held.special:
        return None
    point = 0.0 if zero is None else subject.facts.ask("value_range", zero)[0]
    low, high = (storage.low - point) * held.least, (storage.high - point) * held.least
    return (-high, -low) if held.negative else (low, high)


def reach(subject: Subject, scale: Scale, place: Place) -> Interval | None:
    """The greatest magnitude that codes under the largest scale stand for: surely, and at most.

    None where it is not known, or lies well within the range of the values' type whatever the zero point is.
    """
    step = subject.steps[place].step
    storage, zero = step.meaning.storage, step.zero_point
    if storage is None or (zero is not None and not is_const(zero)):
        return None
    if tame(storage, step.meaning.expressed, scale.held.greatest):
        return None
    low, high = (0.0, 0.0) if zero is None or not storage.integer else subject.facts.ask("value_range", zero)
    most = max(storage.high - low, high - storage.low) * scale.held.greatest
    if is_const(step.x) or isinstance(step.meaning.granularity, Blocked):
        # Which code meets which scale is not known here; code 1 will be among them.
        return scale.held.greatest, most
    return max(storage.high - high, low - storage.low) * scale.held.greatest, most


def tame(storage: ElementType, expressed: ElementType | None, scale: float) -> bool:
    """No zero point can make a scale too large or too small for the values."""
    return expressed is None or (scale >= NORMAL.get(expressed, 0.0) and (storage.high - storage.low) * scale <= expressed.high)
