"""Elements in another order, read in panels: rows of blocks, and with whole rows the transposition of two groups of axes."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

import numpy as np

from qdqtool.dtypes import ElementType
from qdqtool.kernels.sources import Array, Source

PANEL = 1 << 24
"""Most elements that are held at once."""

STRIP = 64
"""Rows that are turned to columns in one go, so that both sides stay in cache."""


@dataclass(slots=True)
class Regrouped:
    """``[pre, length, post]`` turned to rows ``[pre * post * blocks, block]``, the last block of each padded with zeros."""

    source: Source
    pre: int
    length: int
    post: int
    block: int
    _held: tuple[int, int, int] = field(default=(-1, 0, 0), init=False)
    _panel: Array | None = field(default=None, init=False)

    @property
    def dtype(self) -> ElementType:
        return self.source.dtype

    @property
    def row(self) -> int:
        return -(-self.length // self.block) * self.block

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.pre * self.post * (self.row // self.block), self.block)

    def read(self, start: int, stop: int) -> Array:
        out = np.zeros(stop - start, self.dtype.numpy)
        at = start
        while at < stop:
            outer, inner = divmod(at, self.row)
            pre, column = divmod(outer, self.post)
            panel, first, last = self._columns(pre, column)
            flat = panel.reshape(-1)
            offset = (column - first) * self.row + inner
            count = min(stop - at, (last - first) * self.row - offset)
            out[at - start : at - start + count] = flat[offset : offset + count]
            at += count
        if stop >= prod(self.shape):
            self._panel = None
        return out

    def _columns(self, pre: int, column: int) -> tuple[Array, int, int]:
        held, first, last = self._held
        if self._panel is None or held != pre or not first <= column < last:
            width = max(1, min(self.post, PANEL // max(self.row, 1)))
            first = column - column % width
            last = min(first + width, self.post)
            self._panel = self._load(pre, first, last)
            self._held = (pre, first, last)
        return self._panel, first, last

    def _load(self, pre: int, first: int, last: int) -> Array:
        panel = np.zeros((last - first, self.row), self.dtype.numpy)
        for row in range(0, self.length, STRIP):
            end = min(row + STRIP, self.length)
            panel[:, row:end] = self._strip(pre * self.length + row, end - row, first, last).T
        return panel

    def _strip(self, row: int, count: int, first: int, last: int) -> Array:
        """Columns `first` to `last` of `count` source rows."""
        if last - first == self.post:
            return self.source.read(row * self.post, (row + count) * self.post).reshape(count, self.post)
        starts = (at * self.post for at in range(row, row + count))
        return np.stack([self.source.read(start + first, start + last) for start in starts])
