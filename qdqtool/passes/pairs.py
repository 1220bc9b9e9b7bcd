"""When a quantize step takes back what a dequantize step of the same parameters did: proven for every code, or not assumed.

Integers of 16 bits or fewer through float32: with ``n = q - z`` and ``|n| < 2**16``, ``n * s`` and its quotient by s are each rounded
once, so the result is ``n * (1 + e)`` with ``|e| < 2**-22``, which rounds to n, as long as ``n * s`` neither overflows nor falls below
the normal numbers. Everything else (float16, bfloat16, float8, float4 ...) is tried out: each code with each scale.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.exactness import Bound
from qdqtool.kernels.cast import cast
from qdqtool.kernels.dequantize import dequantize
from qdqtool.kernels.quantize import quantize
from qdqtool.kernels.sources import Array, Source, materialize, size, tiles
from qdqtool.quantization import Meaning

LARGEST = 1 << 12
"""Most scales that are tried out one by one."""

_HAIR = 1 + 1e-5
_NORMAL = float(np.finfo(np.float32).tiny)


def inverse(there: Meaning, back: Meaning) -> bool:
    """The quantize step `back` has the type and granularity of the dequantize step `there`."""
    same = replace(back, kind="dequantize", compute=None, saturate=True)
    return same == there and back.granularity is not None and there.storage is not None and there.expressed is not None


def survives(scale: Source, zero_point: Source | None, back: Meaning, *, quantized: bool) -> bool:
    """Every code comes back through dequantize and `back`; only codes that a quantize can give count when it was `quantized`."""
    storage = back.storage
    assert storage is not None
    if _plain(back):
        return _in_float32(scale, zero_point, storage)
    if size(scale) > LARGEST or storage.bits > 8:
        return False
    return tried(scale, zero_point, back, quantized=quantized)


def _plain(back: Meaning) -> bool:
    float32 = (dtypes.FLOAT,) * 3
    return back.storage is not None and back.storage.integer and (back.expressed, back.scale_type, back.compute) == float32


def _in_float32(scale: Source, zero_point: Source | None, storage: ElementType) -> bool:
    """No product of a code's distance from the zero point and a scale leaves the normal numbers."""
    low, high = (0.0, 0.0) if zero_point is None else _ends(zero_point)
    farthest = max(storage.high - low, high - storage.low)
    least, most = np.inf, 0.0
    for tile in tiles(scale):
        sizes = np.abs(tile.astype(np.float64))
        least, most = min(least, float(sizes.min())), max(most, float(sizes.max()))
        if np.isnan(sizes).any():
            return False
    return least >= _NORMAL and most * farthest <= dtypes.FLOAT.high


def _ends(source: Source) -> tuple[float, float]:
    values = [tile.astype(np.float64) for tile in tiles(source)]
    return min(float(v.min()) for v in values), max(float(v.max()) for v in values)


def tried(scale: Source, zero_point: Source | None, back: Meaning, *, quantized: bool) -> bool:
    storage, expressed, compute = back.storage, back.expressed, back.compute
    assert storage is not None
    assert expressed is not None
    assert compute is not None
    codes = codes_of(storage)
    codes = codes[_fixed(codes, storage, back.saturate)] if quantized else codes
    scales, count = materialize(scale).reshape(-1), size(scale)
    zeros = None if zero_point is None else np.broadcast_to(materialize(zero_point).reshape(-1), (count,))
    grid = np.broadcast_to(codes[:, None], (codes.size, count))
    real = dequantize(grid, scales, zeros, expressed=expressed, axis=1, block=None)
    again = quantize(real, scales, zeros, storage=storage, axis=1, block=None, compute=compute, saturate=back.saturate)
    return bool((_bits(again) == _bits(grid)).all())


def codes_of(storage: ElementType) -> Array:
    """Every code of a type of 8 bits or fewer."""
    if storage.integer:
        return np.arange(int(storage.low), int(storage.high) + 1).astype(storage.numpy)
    return np.arange(1 << storage.bits, dtype=np.uint8).view(storage.numpy)


def _fixed(codes: Array, storage: ElementType, saturate: bool) -> Array:
    """Which codes a conversion to the type can give: those that it gives for their own value."""
    if storage.integer:
        return np.ones(codes.shape, bool)
    return np.asarray(_bits(cast(codes.astype(np.float32), storage, saturate=saturate)) == _bits(codes))


def _bits(values: Array) -> Array:
    return np.ascontiguousarray(values).view(np.uint8)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Scale, zero point and integer storage of a step that has one of each."""

    scale: float
    zero: float
    storage: ElementType

    @property
    def range(self) -> tuple[float, float]:
        """The real values of the least and the greatest code."""
        return (self.storage.low - self.zero) * self.scale, (self.storage.high - self.zero) * self.scale


def covers(first: Numbers, last: Numbers) -> bool:
    """Whatever the first quantize clips the last one clips too."""
    if not all(np.isfinite(n.scale) and n.scale > 0 for n in (first, last)):
        return False
    return first.range[0] <= last.range[0] <= last.range[1] <= first.range[1]


def off_by(skipped: Iterable[Numbers], last: Numbers) -> Bound:
    """How many steps the last quantize can be off without some before it that cover it.

    Each moves a value by half its scale at most, a hair more in float32; equal ones do so once. The last rounds what was moved by
    as much, and one more.
    """
    return Bound(steps=int(np.floor(sum(n.scale for n in set(skipped)) / (2 * last.scale) * _HAIR)) + 1)
