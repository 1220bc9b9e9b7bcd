"""Which scale belongs to which element of a flat range, for any granularity: axes are split and joined until few groups are left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np

from qdqtool.errors import QdqtoolError
from qdqtool.kernels.sources import Array
from qdqtool.quantization import Blocked, ByScale, Granularity, PerAxis, Tiles

Shape = tuple[int, ...]
Group = tuple[int, int]
"""Elements along a group of axes, and how many of them in a row share a scale: 1, all, or a block that does not divide them."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The groups of axes of a tensor, outermost first; there is a scale for each ``ceil(length / block)`` of each group, row by row."""

    groups: tuple[Group, ...]

    @property
    def scales(self) -> int:
        return prod(-(-length // block) for length, block in self.groups)

    def index(self, start: int, stop: int) -> Array:
        """Flat index of the scale of each element of a flat range."""
        return flat_index(self.groups, np.arange(start, stop))


def flat_index(groups: Iterable[Group], rest: Array) -> Array:
    """Flat index of the scale of the elements at the flat positions `rest`."""
    found, stride = np.zeros(rest.shape, np.intp), 1
    for length, block in reversed(tuple(groups)):
        rest, along = np.divmod(rest, length)
        found += along // block * stride
        stride *= -(-length // block)
    return found


def blocks(shape: Shape, granularity: Granularity) -> Shape:
    """How many elements in a row share a scale, along each axis of data of `shape`; raises QdqtoolError for an axis outside."""
    rank = len(shape)
    named = dict(_lengths(granularity, rank))
    if any(not -rank <= axis < rank or length < 1 for axis, length in named.items()):
        raise QdqtoolError("parameters-misfit", "the granularity does not fit the data", why=f"{granularity} of a tensor {list(shape)}")
    named = {axis % rank: length for axis, length in named.items()}
    return tuple(max(1, min(named.get(axis, n), n)) for axis, n in enumerate(shape))


def _lengths(granularity: Granularity, rank: int) -> Iterable[tuple[int, int]]:
    match granularity:
        case PerAxis(axis):
            return [(axis, 1)]
        case Blocked(axis, block):
            return [*((k, 1) for k in range(rank) if k != axis % max(rank, 1)), (axis, block)]
        case Tiles(lengths):
            return lengths
        case ByScale():
            raise QdqtoolError("parameters-misfit", "the granularity is not known", why=str(granularity))
        case _:
            return []


@lru_cache(maxsize=1024)
def scale_shape(shape: Shape, granularity: Granularity) -> Shape:
    """Shape of scale and zero point for data of `shape`."""
    counts = tuple(-(-n // block) for n, block in zip(shape, blocks(shape, granularity), strict=True))
    match granularity:
        case PerAxis(axis):
            return (counts[axis],)
        case Blocked() | Tiles():
            return counts
        case _:
            return ()


@lru_cache(maxsize=1024)
def grid(shape: Shape, granularity: Granularity) -> Grid:
    """The grid of data of `shape`; QdqtoolError where the granularity does not fit it."""
    joined: list[Group] = []
    for length, block in _split(shape, blocks(shape, granularity)):
        if joined and joined[-1][1] == 1 and block == 1:
            joined[-1] = (joined[-1][0] * length, 1)
        elif joined and joined[-1][1] == joined[-1][0] and block == length:
            joined[-1] = (joined[-1][0] * length,) * 2
        else:
            joined.append((length, block))
    return Grid(tuple(joined))


def _split(shape: Shape, lengths: Shape) -> Iterable[Group]:
    """Groups without axes of one element; an axis of whole blocks is two: the blocks, and the elements of each."""
    for n, block in zip(shape, lengths, strict=True):
        if 1 < block < n and n % block == 0:
            yield from ((n // block, 1), (block, block))
        elif n != 1:
            yield n, block
