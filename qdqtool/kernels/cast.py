"""``Cast`` on arrays, between all numeric element types.

Sources: the tables in the text of ``Cast`` (opset 28) and ONNX Runtime 1.32 where the text is silent:

* Conversion to a float of 16 bits or fewer passes through float32, also from float64 and integers (two roundings).
* Float to integer truncates and wraps through int32 (int64 for 32 bits unsigned and wider); what int32 cannot hold
  becomes -2**31, hence 0 in 16 bits or fewer. To 4 and 2 bits the value is rounded half away from zero instead.
* Overflow to float8 without `saturate` follows the table; ONNX Runtime leaves it for float8e4m3fn in (480, 496), where it
  gives 448, and for float8e5m2 in [61440, 65536), where it gives NaN.
* NaN to float4 or float6, which have none, becomes -0.0 as in the published node tests.
* Out of the range of float8e8m0 lies all below 2**-127, zero and negatives included, and all above 2**127, judged before
  rounding: the nearest end with `saturate`, else NaN.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.errors import QdqtoolError
from qdqtool.kernels.sources import Array

RoundMode = Literal["up", "down", "nearest"]


def cast(x: Array, to: ElementType, *, saturate: bool = True, round_mode: RoundMode = "up") -> Array:
    """Convert `x` to another element type.

    Parameters
    ----------
    x : array
        Any shape; dtype that of a numeric or bool element type.
    to : ElementType
        Target type, numeric or bool.
    saturate : bool
        For float8 targets: clamp what is out of range, else turn it into infinity or NaN.
    round_mode : {"up", "down", "nearest"}
        For float8e8m0 only: which power of two a value between two of them becomes; nearest rounds ties up.

    Returns
    -------
    array of ``to.numpy``, shape of `x`

    Raises
    ------
    QdqtoolError
        String or complex on either side.
    """
    source = dtypes.of_numpy(x.dtype)
    for side in (source, to):
        if side.kind in ("string", "complex"):
            raise QdqtoolError("cast-unsupported", f"no conversion from {source} to {to}", why=f"{side} is not numeric")
    if source is to:
        return x
    with np.errstate(all="ignore"):
        return np.asarray(_convert(x, source, to, saturate, round_mode), to.numpy)


def _convert(x: Array, source: ElementType, to: ElementType, saturate: bool, round_mode: RoundMode) -> Array:
    if to is dtypes.FLOAT8E8M0:
        return _to_power_of_two(x.astype(np.float32), saturate, round_mode)
    if to.small_float:
        return _to_small_float(x.astype(np.float32), to, saturate)
    if to.kind == "float":
        return (x if to.bits > 16 else x.astype(np.float32)).astype(to.numpy)
    if to.kind == "bool":
        return np.asarray(x.astype(np.float64) != 0)
    if source.kind == "float":
        return _to_integer(x.astype(np.float64), to)
    return x.astype(np.int64).astype(to.numpy)


def _to_small_float(x: Array, to: ElementType, saturate: bool) -> Array:
    nan = np.isnan(x)
    if not to.specials:
        return np.where(nan, np.float32(-0.0), np.clip(x, to.low, to.high)).astype(to.numpy)
    codes = (np.clip(x, to.low, to.high) if saturate else x).astype(to.numpy)
    if to is not dtypes.FLOAT8E5M2:
        return codes
    # Of the three NaN codes of each sign ml_dtypes writes 0x7e, ONNX Runtime 0x7f.
    return np.where(nan, codes.view(np.uint8) | np.uint8(1), codes.view(np.uint8)).view(to.numpy)


def _to_power_of_two(x: Array, saturate: bool, round_mode: RoundMode) -> Array:
    row = dtypes.FLOAT8E8M0
    outside = np.isnan(x) if saturate else ~((x >= row.low) & (x <= row.high))
    fraction, exponent = np.frexp(np.clip(np.where(outside, 1.0, x), row.low, row.high))
    carry = {"up": fraction > 0.5, "down": False, "nearest": fraction >= 0.75}[round_mode]
    codes = np.where(outside, 255, exponent + 126 + carry)
    return codes.astype(np.uint8).view(row.numpy)


def _to_integer(x: Array, to: ElementType) -> Array:
    whole = np.trunc(x)
    if to.bits < 8:
        whole = whole + np.where(np.abs(x - whole) >= 0.5, np.sign(x), 0.0)
    if to is dtypes.UINT64:
        whole = np.where(whole >= 2.0**63, whole - 2.0**64, whole)
    low = -(2.0**31) if to.bits <= 16 or to is dtypes.INT32 else -(2.0**63)
    inside = (whole >= low) & (whole < -low)
    return np.where(inside, whole, low).astype(np.int64).astype(to.numpy)
