"""Number formats by their bit layout alone: decode, round, encode; shares no code with ml_dtypes.

Values are Python floats (float64 holds every value of every type of 32 bits or fewer) or ints for integer types.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType

Bits = np.ndarray[Any, np.dtype[np.uint64]]


@dataclass(frozen=True)
class Layout:
    """Sign, exponent, mantissa; `top` tells what the all-ones exponent means."""

    exponent: int
    mantissa: int
    bias: int
    top: str

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.mantissa


LAYOUTS = {
    "float4e2m1": Layout(2, 1, 1, "numbers"),
    "float6e2m3": Layout(2, 3, 1, "numbers"),
    "float6e3m2": Layout(3, 2, 3, "numbers"),
    "float8e4m3fn": Layout(4, 3, 7, "numbers but one NaN"),
    "float8e4m3fnuz": Layout(4, 3, 8, "numbers, NaN for -0"),
    "float8e5m2": Layout(5, 2, 15, "infinity and NaN"),
    "float8e5m2fnuz": Layout(5, 2, 16, "numbers, NaN for -0"),
    "float16": Layout(5, 10, 15, "infinity and NaN"),
    "bfloat16": Layout(8, 7, 127, "infinity and NaN"),
    "float32": Layout(8, 23, 127, "infinity and NaN"),
    "float64": Layout(11, 52, 1023, "infinity and NaN"),
}
INTEGERS = {f"{sign}int{bits}": (sign == "", bits) for sign in ("", "u") for bits in (2, 4, 8, 16, 32, 64)}
FLOAT8 = ("float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz")
NAN = math.nan


def decode(code: int, name: str) -> float:
    """Value of one code (an int for integer types)."""
    if name in INTEGERS:
        signed, bits = INTEGERS[name]
        return code - (1 << bits) if signed and code >> (bits - 1) else code
    if name == "float8e8m0":
        return NAN if code == 255 else math.ldexp(1.0, code - 127)
    if name == "bool":
        return code
    return _decode_float(code, LAYOUTS[name])


def _decode_float(code: int, layout: Layout) -> float:
    sign, rest = code >> (layout.bits - 1), code & ((1 << (layout.bits - 1)) - 1)
    exponent, mantissa = rest >> layout.mantissa, rest & ((1 << layout.mantissa) - 1)
    if layout.top == "numbers, NaN for -0" and sign and rest == 0:
        return NAN
    if layout.top == "numbers but one NaN" and rest == (1 << (layout.bits - 1)) - 1:
        return NAN
    if layout.top == "infinity and NaN" and exponent == (1 << layout.exponent) - 1:
        return NAN if mantissa else math.copysign(math.inf, -sign or 1)
    implied = 1 << layout.mantissa if exponent else 0
    magnitude = math.ldexp(implied + mantissa, max(exponent, 1) - layout.bias - layout.mantissa)
    return -magnitude if sign else magnitude


def decode_table(name: str) -> list[float]:
    """Values of all codes of a type of 8 bits or fewer, by code."""
    bits = dtypes.of_name(name).bits
    assert bits <= 8
    return [decode(code, name) for code in range(1 << bits)]


@cache
def _ladder(name: str) -> list[float]:
    """Non-negative values in order, and above the largest the one that rounding would go to had the format no end."""
    finite = [v for v in decode_table(name)[: 1 << (LAYOUTS[name].bits - 1)] if math.isfinite(v)]
    return [*finite, 2 * finite[-1] - finite[-2]]


def round_to(value: float | Fraction, name: str, *, saturate: bool = False) -> float:
    """Nearest value of a float type, ties to even; overflow to the largest value, else to infinity or NaN.

    The sign of a zero `value` is that of the float given.
    """
    if value != value:
        return NAN
    sign = math.copysign(1.0, value) if isinstance(value, float) else (-1.0 if value < 0 else 1.0)
    magnitude = _round_magnitude(abs(value), name)
    layout = LAYOUTS[name]
    if magnitude > _largest(layout):
        magnitude = _overflow(layout, saturate)
    return 0.0 if magnitude == 0 and "fnuz" in name else sign * magnitude


def _round_magnitude(value: float | Fraction, name: str) -> float:
    """As if the exponent had no upper end; infinity where the result has no float64."""
    layout = LAYOUTS[name]
    if value == 0 or value == math.inf:
        return float(value)
    if layout.bits <= 8:
        return _nearest_on_ladder(float(value), _ladder(name))
    exponent = max(floor_log2(value) - layout.mantissa, 1 - layout.bias - layout.mantissa)
    numerator, denominator = value.as_integer_ratio()
    whole = _divide_to_even(numerator << max(-exponent, 0), denominator << max(exponent, 0))
    return math.ldexp(whole, exponent) if whole.bit_length() + exponent <= 1024 else math.inf


def _divide_to_even(numerator: int, denominator: int) -> int:
    whole, rest = divmod(numerator, denominator)
    return whole + (2 * rest > denominator or (2 * rest == denominator and whole % 2 == 1))


def floor_log2(value: float | Fraction) -> int:
    numerator, denominator = value.as_integer_ratio()
    guess = numerator.bit_length() - denominator.bit_length()
    below = numerator << max(-guess, 0) < denominator << max(guess, 0)
    return guess - below


@cache
def _largest(layout: Layout) -> float:
    codes = range((1 << (layout.bits - 1)) - 1, 0, -1)
    if layout.top == "infinity and NaN":
        codes = range(((1 << layout.exponent) - 1) * (1 << layout.mantissa) - 1, 0, -1)
    return next(v for v in (_decode_float(code, layout) for code in codes) if math.isfinite(v))


def _overflow(layout: Layout, saturate: bool) -> float:
    if saturate or layout.top == "numbers":
        return _largest(layout)
    return math.inf if layout.top == "infinity and NaN" else NAN


def _nearest_on_ladder(value: float, ladder: list[float]) -> float:
    above = bisect_left(ladder, value)
    if above == len(ladder):
        return math.inf
    if above == 0:
        return ladder[0]
    low, high = ladder[above - 1], ladder[above]
    middle = (low + high) / 2
    if value == middle:
        return low if (above - 1) % 2 == 0 else high
    return low if value < middle else high


def encode(value: float, name: str) -> int:
    """Code of a value the type holds exactly; the positive quiet NaN for NaN."""
    if name == "bool":
        return int(value)
    if name in INTEGERS:
        return int(value) & ((1 << INTEGERS[name][1]) - 1)
    if name == "float8e8m0":
        return 255 if value != value else math.frexp(value)[1] + 126
    layout = LAYOUTS[name]
    if value != value:
        return _nan_code(layout)
    sign = 1 if math.copysign(1.0, value) < 0 else 0
    return sign << (layout.bits - 1) | _encode_magnitude(abs(value), layout)


def _nan_code(layout: Layout) -> int:
    if layout.top == "numbers, NaN for -0":
        return 1 << (layout.bits - 1)
    if layout.bits == 8:
        return 0x7F
    return ((1 << layout.exponent) - 1 << layout.mantissa) | 1 << (layout.mantissa - 1)


def _encode_magnitude(value: float, layout: Layout) -> int:
    if math.isinf(value):
        return (1 << layout.exponent) - 1 << layout.mantissa
    if value == 0:
        return 0
    exponent = max(math.frexp(value)[1] - 1 + layout.bias, 1)
    mantissa = int(math.ldexp(value, layout.bias + layout.mantissa - exponent))
    # The implied bit of a normal number raises the exponent field by one.
    return (exponent - 1 << layout.mantissa) + mantissa


def bits_of(array: Any) -> Bits:
    """Bit pattern of each element, same shape."""
    array = np.asarray(array)
    kind = dtypes.of_numpy(array.dtype)
    raw = np.ascontiguousarray(array).reshape(array.shape).view(f"u{array.dtype.itemsize}").astype(np.uint64)
    return raw & np.uint64((1 << min(kind.bits, 64)) - 1) if kind.bits < 8 else raw


def values_of(array: Any) -> list[float]:
    """Value of each element, flat, in row-major order."""
    name = dtypes.of_numpy(np.asarray(array).dtype).name
    return [decode(int(code), name) for code in bits_of(array).reshape(-1)]


def same_bits(actual: Any, expected: Bits, to: ElementType) -> bool:
    """Bit for bit equal, shape and type included; any NaN equals any other."""
    got = np.asarray(actual)
    if got.dtype != to.numpy or got.shape != expected.shape:
        return False
    return bool(np.array_equal(_one_nan(bits_of(got), to), _one_nan(expected, to)))


def _one_nan(bits: Bits, to: ElementType) -> Bits:
    if to.kind != "float":
        return bits
    values = [decode(int(code), to.name) for code in bits.reshape(-1)]
    nan = encode(NAN, to.name) if to.specials else 0
    return np.where(np.isnan(np.reshape(values, bits.shape)), np.uint64(nan), bits)
