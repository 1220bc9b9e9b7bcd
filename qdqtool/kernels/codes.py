"""What the codes of a constant are, summed up in one pass over ranges; the largest weight never stands whole in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import NamedTuple

import numpy as np

from qdqtool.dtypes import ElementType
from qdqtool.kernels.sources import TILE, Array, Source, size


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """What the elements of a constant are.

    `at_low` and `at_high` of them are at the ends of an integer type (-127 counts as one of int8), `nan` are NaN. `lows` and `highs`
    are the least and greatest by index along the axis that was asked for, one each where none was; infinities count, NaNs do not.
    """

    count: int
    at_low: int
    at_high: int
    nan: int
    lows: Array
    highs: Array
    low: float
    high: float


class Part(NamedTuple):
    """The same of a range of elements."""

    at_low: int
    at_high: int
    nan: int
    lows: Array
    highs: Array
    low: float
    high: float


def codes(source: Source, axis: int | None) -> Codes:
    """The elements of a constant that has some, by index along `axis`."""
    length = 1 if axis is None else source.shape[axis]
    whole: Part | None = None
    for first, tile in _parts(source, axis):
        part = _of_part(tile, source.dtype)
        if tile.shape[1] == length and whole is None:
            whole = part
        else:
            whole = whole or Part(0, 0, 0, np.full(length, np.inf), np.full(length, -np.inf), np.inf, -np.inf)
            whole = _joined(whole, part, slice(first, first + tile.shape[1]))
    assert whole is not None
    return Codes(size(source), *whole)


def _of_part(tile: Array, dtype: ElementType) -> Part:
    values = _numbers(dtype)(tile)
    if not dtype.integer:
        low, high = _by_index(np.fmin, values), _by_index(np.fmax, values)
        nan = int(np.count_nonzero(np.isnan(values)))
        return Part(0, 0, nan, low.astype(np.float64), high.astype(np.float64), float(np.fmin.reduce(low)), float(np.fmax.reduce(high)))
    low, high = _by_index(np.minimum, values), _by_index(np.maximum, values)
    bottom, least, greatest = dtype.low + (dtype.kind == "int"), int(np.minimum.reduce(low)), int(np.maximum.reduce(high))
    at_low = int(np.count_nonzero(values <= bottom)) if least <= bottom else 0
    at_high = int(np.count_nonzero(values == dtype.high)) if greatest == dtype.high else 0
    return Part(at_low, at_high, 0, low.astype(np.float64), high.astype(np.float64), float(least), float(greatest))


def _by_index(extreme: np.ufunc, values: Array) -> Array:
    """The extreme along the middle axis; there is nothing to compare where the others hold one element, as most often one does."""
    inner: Array = values[0] if len(values) == 1 else extreme.reduce(values)
    found: Array = inner[:, 0] if inner.shape[1] == 1 else extreme.reduce(inner, axis=1)
    return found


def _joined(whole: Part, part: Part, where: slice) -> Part:
    """With what a range holds at these indices, in place."""
    whole.lows[where], whole.highs[where] = np.fmin(whole.lows[where], part.lows), np.fmax(whole.highs[where], part.highs)
    ends = whole.at_low + part.at_low, whole.at_high + part.at_high
    low, high = np.fmin(whole.low, part.low), np.fmax(whole.high, part.high)
    return Part(*ends, whole.nan + part.nan, whole.lows, whole.highs, float(low), float(high))


def _parts(source: Source, axis: int | None) -> Iterator[tuple[int, Array]]:
    """Ranges as (outer, index along the axis, inner), with the first index of each."""
    length, post = (1, size(source)) if axis is None else (source.shape[axis], prod(source.shape[axis + 1 :]))
    total, whole = size(source), length * post
    if whole <= TILE:
        step = TILE // whole * whole
        yield from ((0, source.read(start, min(start + step, total)).reshape(-1, length, post)) for start in range(0, total, step))
        return
    step = min(TILE, post) if post >= TILE else TILE // post * post
    for outer in range(0, total, whole):
        for index in range(0, length, max(1, step // post)):
            begin = outer + index * post
            end = min(begin + max(step, post), outer + whole)
            for start in range(begin, end, step):
                yield index, source.read(start, min(start + step, end)).reshape(1, -1, min(post, step, end - start))


@cache
def _table(dtype: ElementType) -> Array:
    """The value of each byte that may hold a code of 8 bits or fewer."""
    codes = np.arange(256, dtype=np.uint8) & (0xFF >> (8 - dtype.bits))
    values = codes.view(dtype.numpy)
    return values.astype(np.int8 if dtype.kind == "int" else np.uint8 if dtype.integer else np.float32)


def _numbers(dtype: ElementType) -> Callable[[Array], Array]:
    """Elements as a type of numpy's own, which is far faster than those of ml_dtypes."""
    if dtype.packed or dtype.small_float:
        return lambda tile: _table(dtype)[tile.view(np.uint8)]
    return (lambda tile: tile) if dtype.numpy.kind in "iu" or dtype.bits >= 32 else (lambda tile: tile.astype(np.float32))
