"""Elements of other constants at other places: picked along axes, or joined."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from qdqtool.dtypes import ElementType
from qdqtool.kernels.sources import Array, Source, materialize, parallel

TILE = 1 << 20
"""Most elements of small rows that are gathered in one go."""

SPARSE, NEAR, FAR = 16, 1 << 12, 1 << 22
"""A range is read whole for rows that are a 16th of it, or when it is short; never one longer than FAR."""

Pick = Array | range
"""Which indices along an axis are taken, in which order."""


@dataclass(frozen=True, slots=True)
class Picked:
    """The indices `picks` along each axis of `source`, under `shape`."""

    source: Source
    picks: tuple[Pick, ...]
    shape: tuple[int, ...]

    @property
    def dtype(self) -> ElementType:
        return self.source.dtype

    @property
    def parallel(self) -> bool:
        return parallel(self.source)

    def read(self, start: int, stop: int) -> Array:
        out = np.empty(stop - start, self.dtype.numpy)
        unit, axes = self._unit()
        done = start
        while done < stop:
            first, offset = divmod(done, unit)
            rows = min(max(1, TILE // unit), -(-stop // unit) - first) if offset == 0 else 1
            end = min(stop, (first + rows) * unit)
            self._rows(self._offsets(first, rows, axes), unit, offset, out[done - start : end - start])
            done = end
        return out

    def _unit(self) -> tuple[int, int]:
        """Elements that stay together, and the number of axes in front of them."""
        axes, unit = len(self.picks), 1
        while axes and _is_all(self.picks[axes - 1], self.source.shape[axes - 1]):
            axes -= 1
            unit *= self.source.shape[axes]
        return unit, axes

    def _offsets(self, first: int, rows: int, axes: int) -> Array:
        """Where in the source each row of a range of rows begins."""
        rest, offsets = np.arange(first, first + rows), np.zeros(rows, np.intp)
        stride = prod(self.source.shape[axes:])
        for axis in range(axes - 1, -1, -1):
            rest, along = np.divmod(rest, len(self.picks[axis]))
            offsets += _at(self.picks[axis], along) * stride
            stride *= self.source.shape[axis]
        return offsets

    def _rows(self, offsets: Array, unit: int, skip: int, out: Array) -> None:
        """Rows of `unit` elements, of the first only what follows the first `skip`."""
        if len(offsets) == 1:
            out[:] = self.source.read(int(offsets[0]) + skip, int(offsets[0]) + skip + len(out))
            return
        low, high = int(offsets.min()), int(offsets.max()) + unit
        if high - low <= min(FAR, SPARSE * len(out) + NEAR):
            window = self.source.read(low, high)
            at = offsets - low if unit == 1 else (offsets[:, None] - low + np.arange(unit)).reshape(-1)
            np.take(window, at[: len(out)], out=out)
            return
        half = len(offsets) // 2
        self._rows(offsets[:half], unit, 0, out[: half * unit])
        self._rows(offsets[half:], unit, 0, out[half * unit :])


def _is_all(pick: Pick, length: int) -> bool:
    return isinstance(pick, range) and pick == range(length)


def _at(pick: Pick, along: Array) -> Array:
    return along * pick.step + pick.start if isinstance(pick, range) else pick[along]


@dataclass(frozen=True, slots=True)
class Joined:
    """Constants one after the other along `axis`."""

    sources: tuple[Source, ...]
    axis: int

    @property
    def dtype(self) -> ElementType:
        return self.sources[0].dtype

    @property
    def shape(self) -> tuple[int, ...]:
        first = self.sources[0].shape
        return (*first[: self.axis], sum(s.shape[self.axis] for s in self.sources), *first[self.axis + 1 :])

    def read(self, start: int, stop: int) -> Array:
        out = np.empty(stop - start, self.dtype.numpy)
        rows = [prod(s.shape[self.axis :]) for s in self.sources]
        ends = list(accumulate(rows))
        done = start
        while done < stop:
            row, offset = divmod(done, ends[-1])
            which = bisect_right(ends, offset)
            count = min(stop - done, ends[which] - offset)
            at = row * rows[which] + offset - (ends[which] - rows[which])
            out[done - start : done - start + count] = self.sources[which].read(at, at + count)
            done += count
        return out


def gathered(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    """``(x, indices?)``, ``(axis, indices?)``: the indices stand in one or the other; negative ones count from the end."""
    source, axis = sources[0], params[0]
    indices = materialize(sources[1]) if len(sources) > 1 else np.array(params[1], np.int64)
    pick = indices.reshape(-1).astype(np.intp)
    pick = np.where(pick < 0, pick + source.shape[axis], pick)
    picks = tuple(pick if d == axis else range(n) for d, n in enumerate(source.shape))
    return Picked(source, picks, (*source.shape[:axis], *indices.shape, *source.shape[axis + 1 :]))


def sliced(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    """``(x,)``, ``(((start, step, count), ...),)``: one triple for each axis."""
    picks = tuple(range(start, start + step * count, step) for start, step, count in params[0])
    return Picked(sources[0], picks, tuple(len(p) for p in picks))


def joined(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    """``(x, ...)``, ``(axis,)``."""
    return Joined(tuple(sources), params[0])
