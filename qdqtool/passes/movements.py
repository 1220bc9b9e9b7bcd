"""Movements of elements, carried out on any constant of the shape that they are for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qdqtool.expressions import Computed, Const
from qdqtool.raising.layouts import reshaped

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Permuted:
    """Axes in another order."""

    perm: Shape


@dataclass(frozen=True, slots=True)
class Reshaped:
    """The same elements, row by row, under another shape."""

    shape: Shape


@dataclass(frozen=True, slots=True)
class Gathered:
    """Some indices along one axis, under the shape of the indices."""

    axis: int
    indices: Const


@dataclass(frozen=True, slots=True)
class Sliced:
    """For each axis where to start, how far to go for each element, and how many to take."""

    ranges: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """Several constants one after the other along an axis."""

    axis: int


Movement = Permuted | Reshaped | Gathered | Sliced | Joined


def carried(movement: Movement, consts: Sequence[Const]) -> Const:
    """The constant that a movement makes of others."""
    x = consts[0]
    match movement:
        case Permuted(perm):
            if perm == tuple(range(len(perm))):
                return x
            return Computed("transpose", (x,), (perm,), x.dtype, tuple(x.shape[p] for p in perm))
        case Reshaped(shape):
            return reshaped(x, shape)
        case Gathered(axis, indices):
            return Computed("gather", (x, indices), (axis,), x.dtype, (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))
        case Sliced(ranges):
            shape = tuple(count for _, _, count in ranges)
            whole = all(r == (0, 1, n) for r, n in zip(ranges, x.shape, strict=True))
            return x if whole else Computed("slice", (x,), (ranges,), x.dtype, shape)
        case Joined(axis):
            length = sum(c.shape[axis] for c in consts)
            shape = (*x.shape[:axis], length, *x.shape[axis + 1 :])
            return x if len(consts) == 1 else Computed("concat", tuple(consts), (axis,), x.dtype, shape)
