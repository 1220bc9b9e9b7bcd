"""Codes of 2, 4 or 8 bits in rows of bytes, low bits first, as ONNX Runtime's block-quantized operators hold them.

Rows are ``[rows, bytes]`` of uint8, each padded to whole bytes (or to whole blocks). Signed codes are the unsigned ones less half
their range, which only turns over their highest bit. Source: MatMulNBits and GatherBlockQuantized of ONNX Runtime 1.32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from qdqtool.dtypes import ElementType
from qdqtool.kernels.sources import Array, Source

PANEL, CHUNK = 1 << 25, 1 << 20
"""Most bytes that are held by columns, and those read for it in one go."""


def spread_bits(packed: Array, bits: int) -> Array:
    """The codes in an array of bytes, one to a byte."""
    per_byte = 8 // bits
    codes = np.empty((packed.size, per_byte), np.uint8)
    for position in range(per_byte):
        np.right_shift(packed, bits * position, out=codes[:, position])
    codes &= (1 << bits) - 1
    return codes.reshape(-1)


def gather_bits(codes: Array, bits: int) -> Array:
    """Codes, whole bytes of them, in as few bytes as they need."""
    columns = codes.reshape(-1, 8 // bits) & np.uint8((1 << bits) - 1)
    packed = columns[:, 0].copy()
    for position in range(1, 8 // bits):
        packed |= columns[:, position] << np.uint8(bits * position)
    return packed


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The first `length` codes of each row of bytes."""

    rows: Source
    bits: int
    length: int
    dtype: ElementType

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.rows.shape[0], self.length)

    @property
    def stride(self) -> int:
        """Bytes of a row."""
        return prod(self.rows.shape[1:])

    def read(self, start: int, stop: int) -> Array:
        first, last = start // self.length, max(start, stop - 1) // self.length
        if first == last:
            codes = self._within(first, start - first * self.length, stop - first * self.length)
        else:
            codes = self._rows(first, last + 1)[start - first * self.length :][: stop - start]
        return codes.view(self.dtype.numpy)

    def _within(self, row: int, start: int, stop: int) -> Array:
        per_byte = 8 // self.bits
        byte = start // per_byte
        packed = self.rows.read(row * self.stride + byte, row * self.stride + -(-stop // per_byte))
        return self._codes(packed)[start - byte * per_byte : stop - byte * per_byte]

    def _rows(self, first: int, last: int) -> Array:
        codes = self._codes(self.rows.read(first * self.stride, last * self.stride)).reshape(last - first, -1)
        return np.ascontiguousarray(codes[:, : self.length]).reshape(-1)

    def _codes(self, packed: Array) -> Array:
        codes = packed.copy() if self.bits == 8 else spread_bits(packed, self.bits)
        return np.bitwise_xor(codes, 1 << (self.bits - 1), out=codes) if self.dtype.kind == "int" else codes


@dataclass(slots=True)
class Columns:
    """The same codes as ``[length, rows]``: bytes are held by columns, as many as `PANEL` allows, and taken apart when they are read."""

    rows: Source
    bits: int
    length: int
    dtype: ElementType
    _panel: Array | None = field(default=None, init=False)
    _first: int = field(default=0, init=False)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.length, self.rows.shape[0])

    def read(self, start: int, stop: int) -> Array:
        out, width = np.empty(stop - start, np.uint8), self.shape[1]
        for column in range(start // width, -(-stop // width)):
            low, high = max(start, column * width), min(stop, (column + 1) * width)
            byte, place = divmod(column * self.bits, 8)
            held = self._held(byte)[low - column * width : high - column * width]
            np.right_shift(held, place, out=out[low - start : high - start])
        if stop >= prod(self.shape):
            self._panel = None
        out &= (1 << self.bits) - 1
        if self.dtype.kind == "int":
            out ^= 1 << (self.bits - 1)
        return out.view(self.dtype.numpy)

    def _held(self, byte: int) -> Array:
        """One byte of every row."""
        if self._panel is None or not self._first <= byte < self._first + len(self._panel):
            self._panel = None
            count, stride = self.rows.shape[0], prod(self.rows.shape[1:])
            self._first, last = byte, min(stride, byte + max(1, PANEL // count))
            self._panel = np.empty((last - byte, count), np.uint8)
            many = max(1, CHUNK // stride)
            for row in range(0, count, many):
                end = min(row + many, count)
                self._panel[:, row:end] = self.rows.read(row * stride, end * stride).reshape(-1, stride)[:, byte:last].T
        return np.asarray(self._panel[byte - self._first])


def unpack_rows(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    """``(rows,)``, ``(bits, length, dtype)``: codes ``[rows, length]`` of an integer type."""
    bits, length, dtype = params
    return Unpacked(sources[0], bits, length, dtype)


def unpack_columns(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    """As `unpack_rows`, transposed."""
    bits, length, dtype = params
    return Columns(sources[0], bits, length, dtype)
