"""Codes as float32, a tile at a time and without allocating: bytes are unpacked in wide words, small floats shifted into place.

A small float whose fields are shifted to where float32 has them is the wanted value times a power of two, subnormal
numbers included; only codes of infinity and NaN are not, and tiles with such a code are looked up in a table.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.kernels.scratch import scratch
from qdqtool.kernels.sources import GROUP, Array

_FIELDS: dict[ElementType, tuple[int, int]] = {
    dtypes.FLOAT8E4M3FN: (3, 7),
    dtypes.FLOAT8E4M3FNUZ: (3, 8),
    dtypes.FLOAT8E5M2: (2, 15),
    dtypes.FLOAT8E5M2FNUZ: (2, 16),
    dtypes.FLOAT6E2M3: (3, 1),
    dtypes.FLOAT6E3M2: (2, 3),
    dtypes.FLOAT4E2M1: (1, 1),
}
"""Bits of the fraction, and bias of the exponent."""


def decodes(dtype: ElementType) -> bool:
    """Whether `decode` knows the type: integers that float32 holds, int32 (rounded), and small floats."""
    return dtype in _FIELDS or (dtype.integer and (dtype.bits <= 16 or dtype is dtypes.INT32))


def unpack(packed: Array, dtype: ElementType, count: int) -> Array:
    """The first `count` codes in bytes of storage, as `decode` takes them; those of packed types in scratch memory."""
    if not dtype.packed:
        return codes_of(packed[: count * dtype.bits // 8].view(dtype.numpy), dtype)
    groups = -(-count // GROUP)
    room = groups * GROUP * dtype.bits // 8
    if packed.size < room:
        padded = scratch("padded", room, np.uint8)
        padded[: packed.size], padded[packed.size :] = packed, 0
        packed = padded
    codes = _UNPACKERS[dtype.bits](packed[:room], groups).view(np.uint8)[:count]
    return _extended(codes, dtype.bits, codes) if dtype.kind == "int" else codes


def _nibbles(packed: Array, groups: int) -> Array:
    words, other = scratch("words", groups * 2, "<u2"), scratch("other", groups * 2, "<u2")
    np.copyto(words, packed)
    np.left_shift(words, 4, out=other)
    np.bitwise_or(words, other, out=words)
    return np.bitwise_and(words, 0x0F0F, out=words)


def _pairs(packed: Array, groups: int) -> Array:
    words, other = scratch("words", groups, "<u4"), scratch("other", groups, "<u4")
    np.copyto(words, packed)
    for shift, mask in ((12, 0x000F000F), (6, 0x03030303)):
        np.left_shift(words, shift, out=other)
        np.bitwise_or(words, other, out=words)
        np.bitwise_and(words, mask, out=words)
    return words


def _sextets(packed: Array, groups: int) -> Array:
    words, other = scratch("words", groups, "<u4"), scratch("other", groups, "<u4")
    triples = packed.reshape(groups, 3)
    np.copyto(words, triples[:, 2])
    for column in (1, 0):
        np.left_shift(words, 8, out=words)
        np.bitwise_or(words, triples[:, column], out=words)
    for shift, low, high in ((4, 0x00000FFF, 0x0FFF0000), (2, 0x003F003F, 0x3F003F00)):
        np.left_shift(words, shift, out=other)
        np.bitwise_and(other, high, out=other)
        np.bitwise_and(words, low, out=words)
        np.bitwise_or(words, other, out=words)
    return words


_UNPACKERS = {4: _nibbles, 2: _pairs, 6: _sextets}


def _extended(codes: Array, bits: int, out: Array) -> Array:
    """Two's complement of fewer bits, as that of bytes."""
    sign = np.uint8(1 << bits - 1)
    np.bitwise_xor(codes, sign, out=out)
    return np.subtract(out, sign, out=out).view(np.int8)


def codes_of(array: Array, dtype: ElementType) -> Array:
    """Elements that are unpacked already, as `decode` takes them."""
    if dtype.small_float:
        return array.view(np.uint8)
    if dtype.packed:
        codes = np.bitwise_and(array.view(np.uint8), (1 << dtype.bits) - 1, out=scratch("extended", array.size, np.uint8))
        return _extended(codes, dtype.bits, codes) if dtype.kind == "int" else codes
    return array


def decode(codes: Array, dtype: ElementType, out: Array) -> float:
    """Values of codes over a power of two, which is returned, into float32 `out`."""
    if dtype not in _FIELDS:
        np.copyto(out, codes, casting="unsafe")
    elif _special(codes, dtype):
        np.take(_table(dtype), codes, out=out, mode="clip")
    else:
        return _shift(codes, dtype, out)
    return 1.0


def _special(codes: Array, dtype: ElementType) -> bool:
    """Whether a code of infinity or NaN is among them."""
    if not dtype.specials:
        return False
    if dtype in (dtypes.FLOAT8E4M3FNUZ, dtypes.FLOAT8E5M2FNUZ):
        return bool(codes.view(np.int8).min() == -128)
    least = 0x7F if dtype is dtypes.FLOAT8E4M3FN else 0x7C
    return bool(codes.view(np.int8).max() >= least or codes.max() >= 0x80 | least)


def _shift(codes: Array, dtype: ElementType, out: Array) -> float:
    shift, mask, power = _places(dtype)
    signed = codes.view(np.int8) if dtype.bits == 8 else _extended(codes, dtype.bits, scratch("extended", codes.size, np.uint8))
    bits = out.view(np.int32)
    np.copyto(bits, signed)
    np.left_shift(bits, shift, out=bits)
    np.bitwise_and(bits, mask, out=bits)
    return power


@cache
def _places(dtype: ElementType) -> tuple[Any, Any, float]:
    """How far a code is shifted, what is kept of it then, and the power of two that is missing."""
    fraction, bias = _FIELDS[dtype]
    shift = 23 - fraction
    return np.int32(shift), np.int32((((1 << dtype.bits - 1) - 1) << shift) - (1 << 31)), 2.0 ** (127 - bias)


@cache
def _table(dtype: ElementType) -> Array:
    return np.arange(256, dtype=np.uint8).view(dtype.numpy).astype(np.float32)
