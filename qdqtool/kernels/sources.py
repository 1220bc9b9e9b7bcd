"""Constants as flat ranges: a `Source` gives any range of a tensor, so nothing whole need ever be held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType

Array = np.ndarray[Any, np.dtype[Any]]

TILE = 1 << 18


class Source(Protocol):
    """A tensor that can be read by range.

    `read(start, stop)` returns the elements ``[start, stop)`` of the row-major flattened tensor, unpacked, as a 1-D
    array of ``dtype.numpy``; it may be a view and must not be written to.
    """

    @property
    def dtype(self) -> ElementType: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    def read(self, start: int, stop: int) -> Array: ...


@dataclass(frozen=True, slots=True)
class ArraySource:
    """A tensor already in memory."""

    array: Array

    @property
    def dtype(self) -> ElementType:
        return dtypes.of_numpy(self.array.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape)

    def read(self, start: int, stop: int) -> Array:
        return self.array.reshape(-1)[start:stop]


def size(source: Source) -> int:
    """Number of elements."""
    return prod(source.shape)


def tiles(source: Source, tile: int = TILE) -> Iterator[Array]:
    """All elements in order, at most `tile` at a time."""
    total = size(source)
    for start in range(0, total, tile):
        yield source.read(start, min(start + tile, total))


def materialize(source: Source) -> Array:
    """The whole tensor as an array of its shape."""
    return source.read(0, size(source)).reshape(source.shape)
