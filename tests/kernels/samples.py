"""Values on which rounding and saturation show: every code, every tie, their float neighbours, and the ends of each type."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from tests.formats import INTEGERS, decode_table

Array = np.ndarray[Any, np.dtype[Any]]

INTEGER_STORAGE = (dtypes.INT2, dtypes.UINT2, dtypes.INT4, dtypes.UINT4, dtypes.INT8, dtypes.UINT8, dtypes.INT16, dtypes.UINT16)
FLOAT_STORAGE = (dtypes.FLOAT4E2M1, dtypes.FLOAT6E2M3, dtypes.FLOAT6E3M2, *dtypes.FLOAT8)
STORAGE = (*INTEGER_STORAGE, *FLOAT_STORAGE)

EXTREMES = [
    0.0,
    -0.0,
    1e-45,
    -1e-40,
    1e-8,
    2049.0,
    65504.0,
    65520.0,
    7e4,
    -7e4,
    2.0**31,
    -(2.0**31),
    3e9,
    -3e38,
    math.inf,
    -math.inf,
    math.nan,
]
SCALES = [1.0, 0.1, -0.25, 3e-5, 1e-40, 2.0**-149, 300.0, 3e38, 0.0, -0.0, math.inf, math.nan]


def as_type(values: Any, to: ElementType) -> Array:
    """The values in a float type or int32, rounded or clamped as it may be; made without the kernels under test."""
    with np.errstate(all="ignore"):
        array = np.asarray(values, np.float64)
        if to.integer:
            return np.clip(np.nan_to_num(array), to.low, to.high).astype(np.int64).astype(to.numpy)
        if to is dtypes.FLOAT8E8M0:
            array = np.exp2(np.round(np.log2(np.clip(np.nan_to_num(np.abs(array)), to.low, to.high))))
        return np.asarray(array.astype(np.float32).astype(to.numpy))


def codes_of(storage: ElementType) -> Array:
    """Every code of a type of 8 bits or fewer; of a wider one its ends and some between."""
    if storage.bits <= 8:
        codes = np.arange(1 << storage.bits)
        if storage.integer:
            return (codes + int(storage.low)).astype(np.int64).astype(storage.numpy)
        return codes.astype(np.uint8).view(storage.numpy)
    low, high = int(storage.low), int(storage.high)
    steps = np.linspace(low, high, 41).astype(np.int64)
    return np.unique(np.concatenate([steps, [low, low + 1, -1, 0, 1, 2049, high - 1, high]]).clip(low, high)).astype(storage.numpy)


def quotients(storage: ElementType) -> Array:
    """Codes, ties between them, and the float32 neighbours of both; a dozen places for wide types."""
    marks = _marks(storage)
    ties = np.array([(a + b) / 2 for a, b in pairwise(marks)])
    exact = np.concatenate([marks, ties]).astype(np.float32)
    near = [np.nextafter(exact, np.float32(side)) for side in (-np.inf, np.inf)]
    return np.concatenate([exact, *near, np.array(EXTREMES, np.float32)])


def _marks(storage: ElementType) -> list[float]:
    if storage.name in INTEGERS:
        low, high = int(storage.low), int(storage.high)
        places = {
            low - 1,
            low,
            low + 1,
            low + 2,
            -3,
            -2,
            -1,
            0,
            1,
            2,
            3,
            7,
            8,
            high // 2,
            high // 2 + 1,
            high - 1,
            high,
            high + 1,
            high + 2,
        }
        return sorted(float(p) for p in places)
    finite = sorted({v for v in decode_table(storage.name) if math.isfinite(v)})
    beyond = 2 * finite[-1] - finite[-2]
    if len(finite) > 70:
        finite = finite[:9] + finite[len(finite) // 2 - 10 : len(finite) // 2 + 11] + finite[-9:]
    return [-beyond, *finite, beyond]


def zero_points(storage: ElementType, count: int) -> Array:
    """`count` zero points, the ends included; for floats a few values and both zeros."""
    if storage.integer:
        low, high = int(storage.low), int(storage.high)
        picks = [0, low, high, 1, high // 2, (low + high) // 2 | 1]
        return np.resize(np.clip(picks, low, high), count).astype(np.int64).astype(storage.numpy)
    return np.resize(np.array([0.0, 1.0, -0.0, -0.5, 2.0], np.float32), count).astype(storage.numpy)


def quantize_rows(storage: ElementType, x_type: ElementType, scale_type: ElementType) -> tuple[Array, Array, Array]:
    """x, scale and zero point for axis 0: one row per scale, whose elements are about the codes and ties times that scale."""
    targets = quotients(storage).astype(np.float64)
    with np.errstate(all="ignore"):
        x = np.stack([targets * (s if s and np.isfinite(s) else 1.0) for s in SCALES])
    return as_type(x, x_type), as_type(SCALES, scale_type), zero_points(storage, len(SCALES))
