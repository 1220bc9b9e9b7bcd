"""What the scales of a constant are, summed up in one pass over ranges."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from qdqtool import dtypes
from qdqtool.kernels.sources import TILE, Array, Source, size, tiles

NORMAL = {dtypes.FLOAT: 2.0**-126, dtypes.BFLOAT16: 2.0**-126, dtypes.FLOAT16: 2.0**-14, dtypes.FLOAT8E8M0: 2.0**-127}
"""The least number of full precision of each type of scale."""


class Spot(NamedTuple):
    """How many elements are of a kind, and the flat index and value of the first."""

    number: int = 0
    first: int = -1
    value: float = 0.0

    def __bool__(self) -> bool:
        return self.number > 0


NONE = Spot()


@dataclass(frozen=True, slots=True)
class Scales:
    """Scales of each kind; `least` and `greatest` are magnitudes of finite scales that are not 0 (inf and 0 when there is none)."""

    count: int
    zero: Spot
    negative: Spot
    special: Spot
    subnormal: Spot
    least: float
    greatest: float


def scales(source: Source) -> Scales:
    """One scale, or as many as there are."""
    normal = NORMAL.get(source.dtype, 0.0)
    if size(source) == 1:
        return _one(float(source.read(0, 1)[0]), normal)
    if 0 < size(source) <= TILE and (plain := _plain(source.read(0, size(source)), normal)):
        return plain
    kinds: list[list[Spot]] = [[], [], [], []]
    least, greatest, start = math.inf, 0.0, 0
    for tile in tiles(source):
        values = tile.astype(np.float32 if tile.dtype.itemsize <= 4 else np.float64)
        sizes, finite = np.abs(values), np.isfinite(values)
        used = sizes[finite & (values != 0)]
        if used.size:
            least, greatest = min(least, float(used.min())), max(greatest, float(used.max()))
        for kind, where in zip(kinds, (values == 0, np.less(values, 0), ~finite, (values != 0) & (sizes < normal)), strict=True):
            kind.append(_spot(where, values, start))
        start += tile.size
    zero, negative, special, subnormal = map(_sum, kinds)
    return Scales(start, zero, negative, special, subnormal, least, greatest)


def _one(value: float, normal: float) -> Scales:
    spot, magnitude = Spot(1, 0, value), abs(value)
    negative = spot if value < 0 else NONE
    if not math.isfinite(value):
        return Scales(1, NONE, negative, spot, NONE, math.inf, 0.0)
    if value == 0:
        return Scales(1, spot, NONE, NONE, NONE, math.inf, 0.0)
    return Scales(1, NONE, negative, NONE, spot if magnitude < normal else NONE, magnitude, magnitude)


def _plain(tile: Array, normal: float) -> Scales | None:
    """All of them positive numbers of full precision; None when there is any other."""
    least, greatest = float(np.minimum.reduce(tile)), float(np.maximum.reduce(tile))
    return Scales(tile.size, NONE, NONE, NONE, NONE, least, greatest) if normal <= least <= greatest < math.inf and least > 0 else None


def _spot(where: Array, values: Array, start: int) -> Spot:
    number = int(np.count_nonzero(where))
    first = int(where.argmax()) if number else -1
    return Spot(number, start + first, float(values[first])) if number else NONE


def _sum(spots: list[Spot]) -> Spot:
    first = next((s for s in spots if s), NONE)
    return first._replace(number=sum(s.number for s in spots))
