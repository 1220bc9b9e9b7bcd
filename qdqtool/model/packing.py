"""Element codes and their bytes in storage: little endian, sub-byte codes packed from the low bits upward.

Source: the comments on ``int32_data`` and ``raw_data`` in onnx.proto 1.23; float6 packs four codes into three bytes.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from qdqtool.dtypes import ElementType
from qdqtool.kernels.bits import gather_bits, spread_bits
from qdqtool.kernels.sources import GROUP

Array = np.ndarray[Any, np.dtype[Any]]


def unpack(data: bytes | memoryview, dtype: ElementType, skip: int, count: int) -> Array:
    """`count` elements as a 1-D array of ``dtype.numpy``, leaving out the first `skip` of those in `data`."""
    if not dtype.packed:
        return _native(np.frombuffer(data, dtype.numpy, count, skip * dtype.numpy.itemsize), dtype)
    packed = np.frombuffer(data, np.uint8)
    codes = _unpack6(packed) if dtype.bits == 6 else spread_bits(packed, dtype.bits)
    return codes[skip : skip + count].view(dtype.numpy)


def pack(array: Array, dtype: ElementType) -> bytes:
    """The storage of an array of ``dtype.numpy``, row by row."""
    return storage(array, dtype).tobytes()


def storage(array: Array, dtype: ElementType) -> Array:
    """The same as an array of bytes, without a copy where the memory has them already."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if not dtype.packed:
        return _native(flat, dtype).view(np.uint8)
    codes = flat.view(np.uint8)
    return _pack6(codes) if dtype.bits == 6 else gather_bits(_padded(codes, 8 // dtype.bits).reshape(-1), dtype.bits)


def byte_range(dtype: ElementType, start: int, stop: int) -> tuple[int, int, int]:
    """First byte, end byte and elements to skip, to read the elements ``[start, stop)``."""
    if not dtype.packed:
        return start * dtype.bits // 8, stop * dtype.bits // 8, 0
    whole = start - start % GROUP
    return whole * dtype.bits // 8, dtype.nbytes(stop), start - whole


def _native(array: Array, dtype: ElementType) -> Array:
    if sys.byteorder == "little" or dtype.bits == 8:
        return array
    width = dtype.numpy.itemsize // (2 if dtype.kind == "complex" else 1)  # pragma: no cover
    return array.view(f"u{width}").byteswap().view(dtype.numpy)  # pragma: no cover


def _unpack6(packed: Array) -> Array:
    groups = _padded(packed, 3)
    first, second, third = groups[:, 0], groups[:, 1], groups[:, 2]
    codes = np.empty((len(groups), 4), np.uint8)
    codes[:, 0] = first & 0x3F
    codes[:, 1] = first >> 6 | (second & 0x0F) << 2
    codes[:, 2] = second >> 4 | (third & 0x03) << 4
    codes[:, 3] = third >> 2
    return codes.reshape(-1)


def _pack6(codes: Array) -> Array:
    groups = _padded(codes, 4) & np.uint8(0x3F)
    packed = np.empty((len(groups), 3), np.uint8)
    packed[:, 0] = groups[:, 0] | groups[:, 1] << 6
    packed[:, 1] = groups[:, 1] >> 2 | groups[:, 2] << 4
    packed[:, 2] = groups[:, 2] >> 4 | groups[:, 3] << 2
    return packed.reshape(-1)[: (codes.size * 6 + 7) // 8]


def _padded(array: Array, width: int) -> Array:
    short = -array.size % width
    return (np.append(array, np.zeros(short, array.dtype)) if short else array).reshape(-1, width)
