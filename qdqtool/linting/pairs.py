"""Quantize and dequantize steps that face each other: whether they mean the same numbers."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from qdqtool.expressions import Const, Expr, Runtime, elements, is_const
from qdqtool.model.graph import Place, domain
from qdqtool.quantization import Kind, PerTensor

if TYPE_CHECKING:
    from qdqtool.linting.subject import Subject

MOVING = (
    "DepthToSpace",
    "Expand",
    "Flatten",
    "Gather",
    "Identity",
    "Reshape",
    "Slice",
    "SpaceToDepth",
    "Squeeze",
    "Transpose",
    "Unsqueeze",
)
"""Operators of one data input that only move elements."""

LARGEST = 1 << 20
"""Parameters of more elements are not compared."""

_LONGEST = 8


def behind(subject: Subject, place: Place, through: Collection[str] = ()) -> tuple[Place | None, tuple[Place, ...]]:
    """The node that makes the data of a step, looking through some operators, and those."""
    passed: list[Place] = []
    at = subject.makers[place]
    while at is not None and len(passed) < _LONGEST and subject.node(at).op_type in through and not domain(subject.node(at).domain):
        passed.append(at)
        at = subject.producer(at, 0)
    return at, tuple(passed)


def is_step(subject: Subject, place: Place | None, kind: Kind) -> bool:
    """A step of that kind."""
    return place is not None and place in subject.steps and subject.steps[place].step.meaning.kind == kind


def is_read(subject: Subject, place: Place) -> bool:
    """The first result of a node is read by another, or one of its graph's."""
    found = subject.view.find(subject.scope(place), subject.node(place).output[0])
    return found is None or bool(subject.view.uses.get(found.key)) or found.key in subject.view.results


def equal(subject: Subject, first: Place, second: Place) -> bool | None:
    """Whether two steps use the same codes for the same numbers; None where it is not known."""
    one, other = subject.steps[first].step, subject.steps[second].step
    if None in (one.meaning.storage, other.meaning.storage, one.meaning.granularity, other.meaning.granularity):
        return None
    if one.meaning.storage is not other.meaning.storage or one.meaning.granularity != other.meaning.granularity:
        return False
    scales, zeros = _same(subject, one.scale, other.scale), _zeros(subject, one.zero_point, other.zero_point)
    if scales is False or zeros is False:
        return False
    return None if scales is None or zeros is None else True


def _zeros(subject: Subject, one: Expr | None, other: Expr | None) -> bool | None:
    if one is not None and other is not None:
        return _same(subject, one, other)
    given = one if one is not None else other
    if given is None:
        return True
    return subject.facts.ask("value_range", given) == (0, 0) if is_const(given) else None


def _same(subject: Subject, one: Expr, other: Expr) -> bool | None:
    if isinstance(one, Runtime) or isinstance(other, Runtime):
        return True if one == other else None
    if not is_const(one) or not is_const(other) or max(elements(one.shape), elements(other.shape)) > LARGEST:
        return None
    return one == other or _values(subject, one, other)


def _values(subject: Subject, one: Const, other: Const) -> bool:
    a, b = (subject.facts.ask("numbers", e) for e in (one, other))
    return bool(np.array_equal(a, b, equal_nan=True))


def parameters(subject: Subject, place: Place) -> str:
    """``uint8, scale 0.02, zero point 128``; no numbers where there are several."""
    step = subject.steps[place].step
    storage, where = step.meaning.storage, step.meaning.granularity
    if not is_const(step.scale):
        return f"{storage}, {where or 'granularity unknown'}"
    if not isinstance(where, PerTensor):
        low, high = subject.facts.ask("value_range", step.scale)
        return f"{storage}, {where}, scales {low:.4g} to {high:.4g}"
    scale = subject.facts.ask("value_range", step.scale)[0]
    zero = subject.facts.ask("value_range", step.zero_point)[0] if is_const(step.zero_point) else 0
    return f"{storage}, scale {scale:.4g}, zero point {zero:.0f}"
