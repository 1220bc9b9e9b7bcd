"""Constants as flat ranges: a `Source` gives any range of a tensor, so nothing whole need ever be held."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol, cast

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType

Array = np.ndarray[Any, np.dtype[Any]]

TILE = 1 << 18

GROUP = 4
"""Ranges that begin at a multiple of this begin at a whole byte of storage, whatever the type."""


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


class Filling(Source, Protocol):
    """A source that makes its elements where the reader wants them."""

    def fill(self, start: int, out: Array) -> None:
        """Write the elements from `start` on into `out`, 1-D and contiguous."""


class Kept(Source, Protocol):
    """A source whose storage can be had as it is, which saves unpacking it twice and allocating it at all."""

    def read_storage(self, start: int, stop: int, out: Array) -> None:
        """Write the bytes of ``[start, stop)`` into `out`; `start` is a multiple of `GROUP`."""


@dataclass(frozen=True, slots=True)
class ArraySource:
    """A tensor already in memory."""

    array: Array
    parallel = True

    @property
    def dtype(self) -> ElementType:
        return dtypes.of_numpy(self.array.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape)

    def read(self, start: int, stop: int) -> Array:
        return self.array.reshape(-1)[start:stop]


@dataclass(frozen=True, slots=True)
class Reshaped:
    """The same elements under another shape."""

    source: Source
    shape: tuple[int, ...]

    @property
    def dtype(self) -> ElementType:
        return self.source.dtype

    @property
    def parallel(self) -> bool:
        return parallel(self.source)

    def read(self, start: int, stop: int) -> Array:
        return self.source.read(start, stop)

    def fill(self, start: int, out: Array) -> None:
        fill(self.source, start, out)


def parallel(source: Source) -> bool:
    """Whether two threads may read the source at once, and gain by it."""
    return bool(getattr(source, "parallel", False))


def kept(source: Source) -> Kept | None:
    """The source itself, or the one of which it is another shape, when its storage can be read and has the byte order of this machine."""
    while isinstance(source, Reshaped):
        source = source.source
    readable = hasattr(source, "read_storage") and (sys.byteorder == "little" or source.dtype.bits <= 8)
    return cast("Kept", source) if readable else None


def fill(source: Source, start: int, out: Array) -> None:
    """Write the elements from `start` on into `out`, 1-D and contiguous."""
    if hasattr(source, "fill"):
        source.fill(start, out)
    else:
        out[:] = source.read(start, start + out.size)


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
