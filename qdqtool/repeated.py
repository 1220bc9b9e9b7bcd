"""Scales and zero points that were repeated for an operator's blocks, told once again on the way back.

The node remembers in its metadata what they were; they are told so where they still repeat.
"""

from __future__ import annotations

from dataclasses import replace

from qdqtool.dialects import Asking
from qdqtool.expressions import Computed, Const, Step, is_const
from qdqtool.quantization import Blocked, Granularity, PerAxis, PerTensor

SCALES = "qdqtool.scales"
"""Remark in the metadata of a node: tensor, axis and its number, or the size of blocks."""


def block_of(length: int) -> int:
    """The size of blocks for scales that have none: the largest of which `length` is a multiple, else 32."""
    return next((block for block in (128, 64, 32, 16) if length % block == 0), 32)


def remark(where: Granularity | None, block: int) -> str | None:
    """What to remember of a granularity that became blocks; None of the same blocks."""
    match where:
        case PerTensor():
            return "tensor"
        case PerAxis(axis):
            return f"axis {axis}"
        case Blocked(_, old) if old != block:
            return str(old)
    return None


def once(step: Step, asking: Asking) -> Step:
    """A dequantize by blocks of a constant, as its node remembers it."""
    told, where = asking.remark(SCALES) or "", step.meaning.granularity
    parameters = [e for e in (step.scale, step.zero_point) if is_const(e)]
    if not told or not isinstance(where, Blocked) or not step.shape or len(parameters) < 1 + (step.zero_point is not None):
        return step
    found = _granularity(told, where, len(step.shape), step.shape[where.axis] or 0)
    if found is None or not all(_repeats(const, where, found, asking) for const in parameters):
        return step
    scale, *zero = (_told(const, where, found) for const in parameters)
    return replace(step, meaning=replace(step.meaning, granularity=found), scale=scale, zero_point=zero[0] if zero else None)


def _granularity(told: str, where: Blocked, rank: int, length: int) -> Granularity | None:
    """What the remark says, if blocks can have come of it; of a matrix the other axis, since it may have been turned."""
    kind, _, number = told.partition(" ")
    if kind == "tensor":
        return PerTensor()
    if kind == "axis" and number.isdecimal():
        axis = int(number) if rank > 2 else 1 - where.axis
        return PerAxis(axis) if axis < rank and axis != where.axis else None
    old = int(kind) if kind.isdecimal() else 0
    return Blocked(where.axis, old) if old > where.block and (old >= length or old % where.block == 0) else None


def _repeats(const: Const, old: Blocked, new: Granularity, asking: Asking) -> bool:
    """Elements change only where the coarser granularity has others."""
    periods = [(asking.fact("period", const, axis), _apart(axis, old, new)) for axis in range(len(const.shape))]
    return all(not period or (apart and period % apart == 0) for period, apart in periods)


def _apart(axis: int, old: Blocked, new: Granularity) -> int:
    """How many indices along an axis have one element; 0 when all have."""
    if axis == old.axis:
        return new.block // old.block if isinstance(new, Blocked) and new.block % old.block == 0 else 0
    return int(isinstance(new, Blocked) or new == PerAxis(axis))


def _told(const: Const, old: Blocked, new: Granularity) -> Const:
    match new:
        case Blocked(axis):
            times = _apart(axis, old, new) or const.shape[axis]
            shape = (*const.shape[:axis], -(-const.shape[axis] // times), *const.shape[axis + 1 :])
            return Computed("reblock", (const,), (axis, 1, times, shape[axis]), const.dtype, shape)
        case PerAxis(axis):
            gone = tuple(a for a in range(len(const.shape)) if a != axis)
            return Computed("first", (const,), (gone, (const.shape[axis],)), const.dtype, (const.shape[axis],))
    return Computed("first", (const,), (tuple(range(len(const.shape))), ()), const.dtype, ())
