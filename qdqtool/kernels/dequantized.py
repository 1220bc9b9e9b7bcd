"""A dequantized constant, any range at a time: decode, subtract, multiply and convert tiles that stay in cache."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.kernels.cast import cast
from qdqtool.kernels.decode import codes_of, decode, decodes, unpack
from qdqtool.kernels.dequantize import dequantize
from qdqtool.kernels.float16 import to_float16
from qdqtool.kernels.grid import Grid
from qdqtool.kernels.parameter import Parameter
from qdqtool.kernels.scratch import own_scratch, scratch
from qdqtool.kernels.sources import GROUP, Array, Kept, Source, kept, parallel
from qdqtool.kernels.spread import Spread

TILE = 1 << 17
"""Elements between whose steps all stays in cache."""

UNPACKED = 1 << 18
"""Elements that are unpacked in one go."""

PIECE = 1 << 20
"""Elements whose storage is read in one go."""


@dataclass(slots=True)
class Dequantized:
    """``expressed(float32(codes - zero point) * float32(scale))``, as `dequantize` computes it."""

    codes: Source
    scale: Source
    zero_point: Source | None
    grid: Grid
    dtype: ElementType
    _storage: ElementType = field(init=False)
    _factor: Spread = field(init=False)
    _offset: Spread | None = field(init=False)

    def __post_init__(self) -> None:
        self._storage = self.codes.dtype
        kind = np.int32 if self._storage.integer and self._storage.bits > 16 else np.float32
        self._factor = Spread(Parameter(self.scale, np.float32), self.grid)
        self._offset = None if self.zero_point is None else Spread(Parameter(self.zero_point, kind), self.grid)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.codes.shape

    @property
    def parallel(self) -> bool:
        sources = (self.codes, self.scale, self.zero_point or self.scale)
        return all(parallel(source) for source in sources)

    def read(self, start: int, stop: int) -> Array:
        out = np.empty(stop - start, self.dtype.numpy)
        self.fill(start, out)
        return out

    def fill(self, start: int, out: Array) -> None:
        """Write the elements from `start` on into `out`."""
        if not decodes(self._storage):
            for at in range(0, out.size, TILE):
                piece = out[at : at + TILE]
                piece[:] = self._plain(start + at, start + at + piece.size)
            return
        storage = kept(self.codes)
        with np.errstate(all="ignore"), own_scratch():
            for at in range(0, out.size, PIECE):
                if storage is None:
                    self._held(start + at, out[at : at + PIECE])
                else:
                    self._kept(storage, start + at, out[at : at + PIECE])

    def _held(self, start: int, out: Array) -> None:
        codes = codes_of(self.codes.read(start, start + out.size), self._storage)
        self._tiles(codes, start, out)

    def _kept(self, storage: Kept, start: int, out: Array) -> None:
        dtype, skip = self._storage, start % GROUP
        first, stop = start - skip, start + out.size
        data = scratch("storage", dtype.nbytes(stop - first), np.uint8)
        storage.read_storage(first, stop, data)
        for at in range(0, stop - first, UNPACKED):
            count = min(UNPACKED, stop - first - at)
            codes = unpack(data[at * dtype.bits // 8 :], dtype, count)[skip if at == 0 else 0 :]
            end = at + count - skip
            self._tiles(codes, start + end - codes.size, out[end - codes.size : end])

    def _tiles(self, codes: Array, start: int, out: Array) -> None:
        tile = TILE * (2 if self._factor.lays_out else 1)
        for at in range(0, out.size, tile):
            self._tile(codes[at : at + tile], start + at, out[at : at + tile])

    def _tile(self, codes: Array, start: int, out: Array) -> None:
        real = out if self.dtype is dtypes.FLOAT else scratch("real", out.size, np.float32)
        factor = self._factor
        if self._offset is not None and not self._offset.parameter.blank:
            self._subtracted(codes, start, real, self._offset)
        elif (power := decode(codes, self._storage, real)) != 1:
            factor = factor.raised(power) or self._multiplied(real, power)
        factor.apply(np.multiply, start, real)
        if real is not out:
            narrow(real, self.dtype, out)

    def _subtracted(self, codes: Array, start: int, real: Array, offset: Spread) -> None:
        if self._storage is dtypes.INT32:
            difference = scratch("difference", real.size, np.int32)
            np.copyto(difference, codes)
            offset.apply(np.subtract, start, difference)
            np.copyto(real, difference, casting="unsafe")
        else:
            self._multiplied(real, decode(codes, self._storage, real))
            offset.apply(np.subtract, start, real)

    def _multiplied(self, real: Array, power: float) -> Spread:
        if power != 1:
            np.multiply(real, np.float32(power), out=real)
        return self._factor

    def _plain(self, start: int, stop: int) -> Array:
        scale = self._factor.elements(start, stop)
        zero = None if self._offset is None else self._offset.elements(start, stop)
        return dequantize(self.codes.read(start, stop), scale, zero, expressed=self.dtype, axis=0, block=None)


def narrow(real: Array, to: ElementType, out: Array) -> None:
    """Round float32 to another type."""
    if to is dtypes.FLOAT16:
        to_float16(real, out)
    elif to is dtypes.BFLOAT16:
        np.copyto(out, real, casting="unsafe")
    else:
        out[:] = cast(real, to)
