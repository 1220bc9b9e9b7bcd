"""What a Transpose, Reshape, Gather ... does to the elements of a constant, read from the node and its other operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from onnx import NodeProto, helper

from qdqtool.expressions import Const
from qdqtool.passes.movements import Gathered, Joined, Movement, Permuted, Reshaped, Shape, Sliced

Integers = Callable[[Const], list[int] | None]
"""The elements of a small integer constant; None for any other."""


def movement(node: NodeProto, operands: Sequence[Const | None], integers: Integers) -> Movement | None:
    """What a node of `OPERATORS` does to constants; None where its own operands or attributes do not tell."""
    reader = OPERATORS[node.op_type]
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute if not a.ref_attr_name}
    first = operands[0]
    if first is None or any(a.ref_attr_name for a in node.attribute):
        return None
    given = [None if o is None else integers(o) for o in operands[1:]] if node.op_type != "Concat" else []
    if any(g is None and o is not None for g, o in zip(given, operands[1:], strict=False)):
        return None
    return reader(attributes, operands, given)


Attributes = Mapping[str, Any]
Given = Sequence[list[int] | None]


def _at(given: Given, index: int) -> list[int] | None:
    return given[index] if index < len(given) else None


def _shape(operands: Sequence[Const | None]) -> Shape:
    assert operands[0] is not None
    return operands[0].shape


def _transpose(attributes: Attributes, operands: Sequence[Const | None], given: Given) -> Movement | None:
    rank = len(_shape(operands))
    perm = tuple(attributes.get("perm", range(rank - 1, -1, -1)))
    return Permuted(perm) if sorted(perm) == list(range(rank)) else None


def _reshape(attributes: Attributes, operands: Sequence[Const | None], given: Given) -> Movement | None:
    shape, wanted = _shape(operands), _at(given, 0)
    if wanted is None:
        wanted = attributes.get("shape")
    if wanted is None or wanted.count(-1) > 1 or min(wanted, default=0) < -1:
        return None
    if not attributes.get("allowzero", 0):
        if any(d == 0 and i >= len(shape) for i, d in enumerate(wanted)):
            return None
        wanted = [shape[i] if d == 0 else d for i, d in enumerate(wanted)]
    return _filled(shape, wanted)


def _filled(shape: Shape, wanted: list[int]) -> Movement | None:
    """The wanted shape with its -1 worked out."""
    rest = prod(d for d in wanted if d != -1)
    if -1 in wanted and (rest == 0 or prod(shape) % rest):
        return None
    final = tuple(prod(shape) // rest if d == -1 else d for d in wanted)
    return Reshaped(final) if prod(final) == prod(shape) else None


def _flatten(attributes: Attributes, operands: Sequence[Const | None], given: Given) -> Movement | None:
    shape, axis = _shape(operands), int(attributes.get("axis", 1))
    if not -len(shape) <= axis <= len(shape):
        return None
    axis += len(shape) if axis < 0 else 0
    return Reshaped((prod(shape[:axis]), prod(shape[axis:])))


def _axes(attributes: Attributes, given: Given, rank: int) -> tuple[int, ...] | None:
    """The axes that a Squeeze or Unsqueeze names, counted from the front; None where one is outside or there twice."""
    axes = _at(given, 0)
    axes = attributes.get("axes") if axes is None else axes
    if axes is None or any(not -rank <= a < rank for a in axes):
        return None
    found = tuple(a % rank for a in axes)
    return found if len(set(found)) == len(found) else None


def _squeeze(attributes: Attributes, operands: Sequence[Const | None], given: Given) -> Movement | None:
    shape = _shape(operands)
    every = tuple(i for i, n in enumerate(shape) if n == 1)
    named = _at(given, 0) is not None or "axes" in attributes
    axes = _axes(attributes, given, len(shape)) if named else every
    if axes is None or any(shape[a] != 1 for a in axes):
        return None
    return Reshaped(tuple(n for i, n in enumerate(shape) if i not in axes))


def _unsqueeze(attributes: Attributes, operands: Sequence[Const | None], given: Given) -> Movement | None:
    shape, named = _shape(operands), _at(given, 0)
    count = len(attributes.get("axes", ()) if named is None else named)
    axes = _axes(attributes, given, len(shape) + count)
    if axes is None:
        return None
    rest = iter(shape)
    return Reshaped(tuple(1 if i in axes else next(rest) for i in range(len(shape) + count)))


def _gather(attributes: Attributes, operands: Sequence[Const | None], given: Given) -> Movement | None:
    shape, axis = _shape(operands), int(attributes.get("axis", 0))
    indices, values = operands[1] if len(operands) > 1 else None, _at(given, 0)
    if indices is None or values is None or not -len(shape) <= axis < len(shape):
        return None
    if any(not -shape[axis] <= v < shape[axis] for v in values):
        return None
    return Gathered(axis % len(shape), indices)


def _slice(attributes: Attributes, operands: Sequence[Const | None], given: Given) -> Movement | None:
    shape = _shape(operands)
    starts, ends = _at(given, 0), _at(given, 1)
    starts, ends = starts or attributes.get("starts"), ends or attributes.get("ends")
    axes = _at(given, 2) or attributes.get("axes")
    if starts is None or ends is None or len(starts) != len(ends):
        return None
    axes = list(range(len(starts))) if axes is None else axes
    steps = _at(given, 3) or [1] * len(starts)
    if not len(axes) == len(steps) == len(starts) or 0 in steps or any(not -len(shape) <= a < len(shape) for a in axes):
        return None
    ranges = [(0, 1, n) for n in shape]
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        # Going backwards from in front of the first element, Python takes none, and ONNX the first.
        taken = range(shape[axis])[slice(start if step > 0 else max(start, -shape[axis]), end, step)]
        ranges[axis] = (taken.start, taken.step, len(taken))
    return Sliced(tuple(ranges))


def _concat(attributes: Attributes, operands: Sequence[Const | None], given: Given) -> Movement | None:
    shape, axis = _shape(operands), attributes.get("axis")
    if axis is None or not -len(shape) <= axis < len(shape):
        return None
    at = axis % len(shape)
    rest = {(o.dtype, len(o.shape), *(n for i, n in enumerate(o.shape) if i != at)) for o in operands if o is not None}
    return Joined(at) if len(rest) == 1 and None not in operands else None


OPERATORS: Mapping[str, Callable[[Attributes, Sequence[Const | None], Given], Movement | None]] = {
    "Transpose": _transpose,
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Gather": _gather,
    "Slice": _slice,
    "Concat": _concat,
}
