"""The codes of a constant, any range at a time: divide, round, and convert tiles that stay in cache.

A small float depends on the quotient's upper half and on whether anything stands below it, for all its ties have few
bits: one table of 65,536 entries, indexed by the upper 16 bits with the lowest made sticky, does all rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.kernels.cast import cast
from qdqtool.kernels.grid import Grid
from qdqtool.kernels.parameter import Parameter
from qdqtool.kernels.quantize import quantize
from qdqtool.kernels.scratch import own_scratch, scratch
from qdqtool.kernels.sources import Array, Source, parallel
from qdqtool.kernels.spread import Spread

TILE = 1 << 17
"""Elements between whose steps all stays in cache."""


@dataclass(slots=True)
class Quantized:
    """``saturate(round_half_even(x / scale) + zero point)``, as `quantize` computes it."""

    x: Source
    scale: Source
    zero_point: Source | None
    grid: Grid
    dtype: ElementType
    compute: ElementType
    saturate: bool
    _divisor: Spread = field(init=False)
    _offset: Spread | None = field(init=False)

    def __post_init__(self) -> None:
        self._divisor = Spread(Parameter(self.scale, np.float32, self._precision), self.grid)
        self._offset = None if self.zero_point is None else Spread(Parameter(self.zero_point, np.float32), self.grid)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.x.shape

    @property
    def parallel(self) -> bool:
        return all(parallel(source) for source in (self.x, self.scale, self.zero_point or self.scale))

    @property
    def _precision(self) -> ElementType:
        return dtypes.FLOAT if self.compute is dtypes.FLOAT8E8M0 else self.compute

    def read(self, start: int, stop: int) -> Array:
        out = np.empty(stop - start, self.dtype.numpy)
        self.fill(start, out)
        return out

    def fill(self, start: int, out: Array) -> None:
        """Write the codes from `start` on into `out`."""
        for at in range(0, out.size, TILE):
            piece = out[at : at + TILE]
            with np.errstate(all="ignore"), own_scratch():
                if not (self._tiled and self._tile(start + at, piece)):
                    piece[:] = self._plain(start + at, piece.size)

    @property
    def _tiled(self) -> bool:
        return self.compute is not dtypes.INT32 and (self.dtype.small_float or (self.dtype.integer and self.dtype.bits <= 16))

    def _tile(self, start: int, out: Array) -> bool:
        """Fill a tile; False when it takes more than float32 arithmetic without NaN."""
        real = scratch("real", out.size, np.float32)
        self._real(self.x.read(start, start + out.size), real)
        self._divisor.apply(np.divide, start, real)
        self._round(real)
        return self._integers(start, real, out) if self.dtype.integer else self._floats(start, real, out)

    def _real(self, x: Array, real: Array) -> None:
        source = dtypes.of_numpy(x.dtype)
        if source is self._precision or self._precision is dtypes.FLOAT:
            np.copyto(real, x, casting="unsafe")
        else:
            np.copyto(real, cast(x, self._precision), casting="unsafe")

    def _round(self, real: Array) -> None:
        """Round to the type of the division: that of two of its numbers in float32, rounded again, is right."""
        if self._precision is not dtypes.FLOAT:
            np.copyto(real, cast(real, self._precision), casting="unsafe")

    def _integers(self, start: int, real: Array, out: Array) -> bool:
        if np.isnan(real.min()):
            return False
        np.rint(real, out=real)
        low, high = self.dtype.low, self.dtype.high
        if self._offset is not None and not self._offset.parameter.blank:
            # Beyond this nothing but saturation is left, and below it the sum is exact.
            np.clip(real, np.float32(low - high), np.float32(high - low), out=real)
            self._offset.apply(np.add, start, real)
        np.clip(real, np.float32(low), np.float32(high), out=real)
        number = np.dtype(f"{'i' if self.dtype.kind == 'int' else 'u'}{max(1, self.dtype.bits // 8)}")
        np.copyto(out.view(number), real, casting="unsafe")
        if self.dtype.packed:
            np.bitwise_and(out.view(np.uint8), (1 << self.dtype.bits) - 1, out=out.view(np.uint8))
        return True

    def _floats(self, start: int, real: Array, out: Array) -> bool:
        if self._offset is not None and self.dtype not in dtypes.FLOAT8:
            self._offset.apply(np.add, start, real)
            self._round(real)
        bits, index = real.view(np.uint32), scratch("index", real.size, np.uint32)
        np.bitwise_and(bits, 0xFFFF, out=index)
        np.add(index, 0xFFFF, out=index)
        np.bitwise_or(index, bits, out=index)
        np.right_shift(index, 16, out=index)
        np.take(_codes(self.dtype, self.saturate), index, out=out.view(np.uint8), mode="clip")
        return True

    def _plain(self, start: int, count: int) -> Array:
        scale = self._divisor.elements(start, start + count)
        zero = None if self._offset is None else self._offset.elements(start, start + count)
        x = self.x.read(start, start + count)
        return quantize(x, scale, zero, storage=self.dtype, axis=0, block=None, compute=self.compute, saturate=self.saturate)


@cache
def _codes(storage: ElementType, saturate: bool) -> Array:
    """The code of each float32 whose lower half is zero."""
    values = (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)
    with np.errstate(all="ignore"):
        return cast(values, storage, saturate=saturate).view(np.uint8)
