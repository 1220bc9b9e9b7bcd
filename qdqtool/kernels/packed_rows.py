"""Rows of bytes made of codes of 2, 4 or 8 bits, low bits first; what the other way round is in `bits`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.kernels import bits as rows_of_bytes
from qdqtool.kernels.sources import Array, Source


@dataclass(frozen=True, slots=True)
class Packed:
    """``[rows, length]`` codes as ``[rows, ...]`` bytes; what is left of a row holds `rest`, or the last of the row's `zeros`."""

    codes: Source
    zeros: Source | None
    rest: int
    bits: int
    shape: tuple[int, ...]
    dtype: ElementType = dtypes.UINT8

    def read(self, start: int, stop: int) -> Array:
        stride, length = prod(self.shape[1:]), self.codes.shape[1]
        first, last = start // stride, -(-stop // stride)
        if length * self.bits == stride * 8:
            per_byte = 8 // self.bits
            return self._bytes(self.codes.read(start * per_byte, stop * per_byte))
        rows = self._rows(first, last, stride * 8 // self.bits)
        return self._bytes(rows.reshape(-1))[start - first * stride :][: stop - start]

    def _rows(self, first: int, last: int, width: int) -> Array:
        length = self.codes.shape[1]
        rows = np.empty((last - first, width), np.uint8)
        rows[:, :length] = self.codes.read(first * length, last * length).view(np.uint8).reshape(-1, length)
        rows[:, length:] = self._filling(first, last)
        return rows

    def _filling(self, first: int, last: int) -> Array:
        if self.zeros is None:
            return np.full((last - first, 1), self.rest, np.uint8)
        count = self.zeros.shape[1]
        return self.zeros.read(first * count, last * count).view(np.uint8).reshape(-1, count)[:, -1:]

    def _bytes(self, codes: Array) -> Array:
        flat = codes.view(np.uint8)
        if self.codes.dtype.kind == "int":
            flat = flat ^ np.uint8(1 << (self.bits - 1))
        return flat if self.bits == 8 else rows_of_bytes.gather_bits(flat, self.bits)


def pack_rows(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    """``(codes, zeros?)``, ``(bits, shape, fill)``: bytes of that shape; `fill` and zeros are of the type of the codes."""
    bits, shape, fill = params
    return Packed(sources[0], sources[1] if len(sources) > 1 else None, fill, bits, shape)
