"""What the kernels must compute, one element at a time in exact arithmetic; shares no code with them, numpy or ml_dtypes.

Every number is a Python float, int or fraction; the array wrappers only read and write bit patterns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from tests.formats import FLOAT8, INTEGERS, LAYOUTS, NAN, Bits, decode, decode_table, encode, floor_log2, round_to, same_bits, values_of

__all__ = ["decode_table", "oracle_cast", "oracle_dequantize", "oracle_quantize", "same_bits"]


def _divide(x: float, scale: float, compute: str) -> float:
    """IEEE 754 division, rounded once to `compute`."""
    if x != x or scale != scale or (x == 0 and scale == 0) or (math.isinf(x) and math.isinf(scale)):
        return NAN
    sign = math.copysign(1.0, x) * math.copysign(1.0, scale)
    if math.isinf(x) or scale == 0:
        return sign * math.inf
    if math.isinf(scale) or x == 0:
        return sign * 0.0
    return math.copysign(round_to(abs(Fraction(x) / Fraction(scale)), compute), sign)


def _multiply(x: float, y: float) -> float:
    """IEEE 754 product, rounded once to float32."""
    if not (math.isfinite(x) and math.isfinite(y)) or x == 0 or y == 0:
        return x * y
    return round_to(Fraction(x) * Fraction(y), "float32")


def _add(x: float, y: float, name: str) -> float:
    if not (math.isfinite(x) and math.isfinite(y)) or (x == 0 and y == 0):
        return x + y
    return round_to(Fraction(x) + Fraction(y), name)


def _real(value: float, source: str, to: str) -> float:
    """Value of `source` in the float type `to`; through float32 towards 16 bits or fewer."""
    if LAYOUTS[to].bits <= 16 and source in (*INTEGERS, "float64"):
        value = round_to(float(value) if isinstance(value, float) else Fraction(value), "float32")
    return round_to(float(value) if not isinstance(value, int) else Fraction(value), to)


def quantize_one(
    x: float, scale: float, zero: float | None, *, x_type: str, scale_type: str, storage: str, compute: str, saturate: bool = True
) -> float:
    """Value of the code of one element; `zero` is the value of the zero point, None for none."""
    if compute == "int32":
        quotient, precision = _divide(float(x), float(scale), "float64"), "float64"
    else:
        precision = "float32" if compute == "float8e8m0" else compute
        quotient = _divide(_real(x, x_type, precision), _real(scale, scale_type, precision), precision)
    if storage in INTEGERS:
        return _nearest_integer(quotient, int(zero or 0), storage)
    if zero is not None and storage not in FLOAT8:
        quotient = _add(quotient, zero, precision)
    return cast_one(quotient, precision, storage, saturate=saturate)


def _nearest_integer(quotient: float, zero: int, storage: str) -> int:
    low, high = _range(storage)
    if quotient != quotient:
        return low
    if math.isinf(quotient):
        return high if quotient > 0 else low
    return min(max(round(Fraction(quotient)) + zero, low), high)


def _range(name: str) -> tuple[int, int]:
    signed, bits = INTEGERS[name]
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)


def dequantize_one(q: float, scale: float, zero: float | None, *, storage: str, expressed: str) -> float:
    """Real value of one code's value `q`."""
    if storage in INTEGERS:
        steps = round_to(Fraction(_wrap(int(q) - int(zero or 0), "int32")), "float32")
    else:
        steps = q if zero is None else _add(q, -zero, "float32")
    return round_to(_multiply(steps, scale), expressed)


def _wrap(value: int, name: str) -> int:
    return int(decode(value & ((1 << INTEGERS[name][1]) - 1), name))


def cast_one(value: float, source: str, to: str, *, saturate: bool = True, round_mode: str = "up") -> float:
    """Value of one element converted to another type."""
    if to == "bool":
        return int(value != 0)
    if to in INTEGERS:
        return _wrap(value if isinstance(value, int) else _whole(value, to), to)
    if to == "float8e8m0":
        return _power_of_two(_real(value, source, "float32"), saturate, round_mode)
    if value != value and LAYOUTS[to].top == "numbers":
        return -0.0
    if LAYOUTS[to].bits > 8:
        return _real(value, source, to)
    return round_to(_real(value, source, "float32"), to, saturate=saturate)


def _whole(value: float, to: str) -> int:
    bits = 32 if INTEGERS[to][1] <= 16 or to == "int32" else 64
    lowest = -(1 << (bits - 1))
    if not math.isfinite(value):
        return lowest
    whole = math.trunc(value)
    if INTEGERS[to][1] < 8:
        whole = int(math.copysign(math.floor(abs(Fraction(value)) + Fraction(1, 2)), value))
    if to == "uint64" and whole >= 1 << 63:
        whole -= 1 << 64
    return whole if lowest <= whole < -lowest else lowest


def _power_of_two(value: float, saturate: bool, round_mode: str) -> float:
    low, high = math.ldexp(1.0, -127), math.ldexp(1.0, 127)
    if value != value or (not saturate and not low <= value <= high):
        return NAN
    value = min(max(value, low), high)
    below = math.ldexp(1.0, floor_log2(Fraction(value)))
    carry = {"up": value > below, "down": False, "nearest": value >= 1.5 * below}[round_mode]
    return 2 * below if carry else below


def _parameter_index(shape: tuple[int, ...], axis: int | None, block: int | None) -> Iterator[int]:
    """For each element in row-major order, the flat index of its scale."""
    for index in np.ndindex(*shape):
        if axis is None:
            yield 0
        elif block is None:
            yield index[axis]
        else:
            at = axis % len(shape)
            count = [-(-n // block) if i == at else n for i, n in enumerate(shape)]
            flat = 0
            for i, (k, n) in enumerate(zip(index, count, strict=True)):
                flat = flat * n + (k // block if i == at else k)
            yield flat


def _pattern(values: list[float], shape: tuple[int, ...], to: ElementType) -> Bits:
    return np.array([encode(v, to.name) for v in values], np.uint64).reshape(shape)


def oracle_quantize(
    x: Any,
    scale: Any,
    zero_point: Any | None,
    *,
    storage: ElementType,
    axis: int | None,
    block: int | None,
    compute: ElementType,
    saturate: bool = True,
) -> Bits:
    """Bit patterns of the codes; parameters as for ``qdqtool.kernels.quantize.quantize``."""
    scales, zeros = values_of(scale), None if zero_point is None else values_of(zero_point)
    types = {"x_type": dtypes.of_numpy(x.dtype).name, "scale_type": dtypes.of_numpy(scale.dtype).name}
    codes = [
        quantize_one(v, scales[i], zeros and zeros[i], storage=storage.name, compute=compute.name, saturate=saturate, **types)
        for v, i in zip(values_of(x), _parameter_index(x.shape, axis, block), strict=True)
    ]
    return _pattern(codes, x.shape, storage)


def oracle_dequantize(q: Any, scale: Any, zero_point: Any | None, *, expressed: ElementType, axis: int | None, block: int | None) -> Bits:
    """Bit patterns of the real values; parameters as for ``qdqtool.kernels.dequantize.dequantize``."""
    scales, zeros = values_of(scale), None if zero_point is None else values_of(zero_point)
    storage = dtypes.of_numpy(q.dtype).name
    reals = [
        dequantize_one(v, scales[i], zeros and zeros[i], storage=storage, expressed=expressed.name)
        for v, i in zip(values_of(q), _parameter_index(q.shape, axis, block), strict=True)
    ]
    return _pattern(reals, q.shape, expressed)


def oracle_cast(x: Any, to: ElementType, *, saturate: bool = True, round_mode: str = "up") -> Bits:
    """Bit patterns after conversion; parameters as for ``qdqtool.kernels.cast.cast``."""
    source = dtypes.of_numpy(x.dtype).name
    return _pattern([cast_one(v, source, to.name, saturate=saturate, round_mode=round_mode) for v in values_of(x)], x.shape, to)
