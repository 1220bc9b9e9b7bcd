"""A constant with its axes in another order, made panel by panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from qdqtool.dtypes import ElementType
from qdqtool.kernels.moved import Picked
from qdqtool.kernels.sources import Array, Source, materialize, size

PANEL = 1 << 24
"""Most bytes of a transposition that are held at once."""


@dataclass(slots=True)
class Transposed:
    """The axes in the order `perm`, made panel by panel: ranges of the leading axes of the result."""

    source: Source
    perm: tuple[int, ...]
    _held: tuple[int, int] = field(default=(0, 0), init=False)
    _panel: Array | None = field(default=None, init=False)

    @property
    def dtype(self) -> ElementType:
        return self.source.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.source.shape[p] for p in self.perm)

    def read(self, start: int, stop: int) -> Array:
        out = np.empty(stop - start, self.dtype.numpy)
        done = start
        while done < stop:
            panel, first, last = self._around(done)
            count = min(stop, last) - done
            out[done - start : done - start + count] = panel[done - first : done - first + count]
            done += count
        if stop >= size(self.source):
            self._panel = None
        return out

    def _around(self, at: int) -> tuple[Array, int, int]:
        """The panel that holds an element, and the flat range it covers."""
        first, last = self._held
        if self._panel is None or not first <= at < last:
            ranges, first, last = self._box(at)
            self._panel = self._load(ranges)
            self._held = (first, last)
        return self._panel, first, last

    def _box(self, at: int) -> tuple[list[range], int, int]:
        """Ranges along the axes of the result that make a panel around an element."""
        shape, room = self.shape, max(1, PANEL // self.dtype.numpy.itemsize)
        ranges: list[range] = []
        first, rest = 0, at
        for axis, n in enumerate(shape):
            inner = prod(shape[axis + 1 :])
            along, rest = divmod(rest, inner)
            width = min(n, max(1, room // inner))
            begin = along - along % width
            ranges.append(range(begin, min(begin + width, n)))
            first += begin * inner
            if inner <= room:
                ranges += [range(m) for m in shape[axis + 1 :]]
                break
        return ranges, first, first + prod(len(r) for r in ranges)

    def _load(self, ranges: Sequence[range]) -> Array:
        boxes = dict(zip(self.perm, ranges, strict=True))
        picks = tuple(boxes[axis] for axis in range(len(self.perm)))
        box = Picked(self.source, picks, tuple(len(p) for p in picks))
        return np.ascontiguousarray(materialize(box).transpose(self.perm)).reshape(-1)
