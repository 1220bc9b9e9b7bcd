"""Packed rows of codes, read at any range, against one code at a time."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.kernels import bits as kernels
from qdqtool.kernels.bits import Columns, Unpacked
from qdqtool.kernels.packed_rows import Packed
from qdqtool.kernels.products import Product
from qdqtool.kernels.recode import open_kernel
from qdqtool.kernels.sources import Array, ArraySource, Source, materialize
from qdqtool.packed import SIGNED, UNSIGNED


def code(rows: Array, row: int, place: int, bits: int) -> int:
    """One code."""
    return int(rows[row, place * bits // 8]) >> (place * bits % 8) & ((1 << bits) - 1)


def numbers(array: Array) -> Array:
    return array.astype(np.int64)


@st.composite
def packed(draw: st.DrawFn) -> tuple[Array, int, int, ElementType]:
    """Rows of bytes, the bits of a code, how many of a row count, and the type they become."""
    bits, count, stride = draw(st.sampled_from((2, 4, 8))), draw(st.integers(1, 5)), draw(st.integers(1, 9))
    length = draw(st.integers(1, stride * 8 // bits))
    rows = np.random.default_rng(draw(st.integers(0, 99))).integers(0, 256, (count, stride)).astype(np.uint8)
    return rows, bits, length, draw(st.sampled_from((SIGNED, UNSIGNED)))[bits]


@given(packed(), st.data())
def test_any_range_of_rows_and_of_columns(case: tuple[Array, int, int, ElementType], data: st.DataObject) -> None:
    rows, bits, length, dtype = case
    half = 1 << (bits - 1) if dtype.kind == "int" else 0
    whole = np.array([[code(rows, r, k, bits) - half for k in range(length)] for r in range(len(rows))])
    stop = data.draw(st.integers(1, whole.size))
    start = data.draw(st.integers(0, stop - 1))
    for source, expected in ((Unpacked(ArraySource(rows), bits, length, dtype), whole), (columns(rows, bits, length, dtype), whole.T)):
        assert source.shape == expected.shape
        assert np.array_equal(numbers(source.read(start, stop)), expected.reshape(-1)[start:stop])
        assert np.array_equal(numbers(materialize(source)), expected)


def columns(rows: Array, bits: int, length: int, dtype: ElementType) -> Source:
    return Columns(ArraySource(rows), bits, length, dtype)


def test_columns_that_do_not_fit_are_held_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "PANEL", 12)
    monkeypatch.setattr(kernels, "CHUNK", 9)
    rows = np.random.default_rng(0).integers(0, 256, (5, 7)).astype(np.uint8)
    source = Columns(ArraySource(rows), 4, 13, dtypes.INT4)
    straight = materialize(Unpacked(ArraySource(rows), 4, 13, dtypes.INT4))
    for size in (1, 4, 65):
        parts = [source.read(start, min(start + size, 65)) for start in range(0, 65, size)]
        assert np.array_equal(numbers(np.concatenate(parts)), numbers(straight.T).reshape(-1))


@given(packed(), st.integers(0, 3), st.booleans(), st.data())
def test_packing_is_the_way_back(case: tuple[Array, int, int, ElementType], more: int, zeros: bool, data: st.DataObject) -> None:
    rows, bits, length, dtype = case
    codes = Unpacked(ArraySource(rows), bits, length, dtype)
    stride = -(-length * bits // 8) + more
    filling = Unpacked(ArraySource(rows), bits, min(2, length), dtype)
    result = Packed(codes, filling if zeros else None, 1, bits, (len(rows), stride))
    stop = data.draw(st.integers(1, len(rows) * stride))
    start = data.draw(st.integers(0, stop - 1))
    half = 1 << (bits - 1) if dtype.kind == "int" else 0
    for row in range(len(rows)):
        rest = code(rows, row, min(2, length) - 1, bits) if zeros else 1 + half
        expected = [code(rows, row, k, bits) for k in range(length)] + [rest & ((1 << bits) - 1)] * (stride * 8 // bits - length)
        assert [code(materialize(result), row, k, bits) for k in range(len(expected))] == expected
    assert np.array_equal(result.read(start, stop), materialize(result).reshape(-1)[start:stop])


def test_a_product_is_of_the_type_of_its_first_operand() -> None:
    left = ArraySource(np.array([[1.5, 2.0]], np.float32))
    result = Product(left, ArraySource(np.array(8, np.float32)))
    assert (result.dtype, result.shape, result.read(1, 2).tolist()) == (dtypes.FLOAT, (1, 2), [16.0])


def test_kernels_by_name() -> None:
    rows = ArraySource(np.array([[0x21, 0x43], [0x65, 0x07]], np.uint8))
    codes = open_kernel("unpack_rows", [rows], (4, 3, dtypes.UINT4))
    assert materialize(codes).astype(int).tolist() == [[1, 2, 3], [5, 6, 7]]
    assert materialize(open_kernel("unpack_columns", [rows], (4, 3, dtypes.UINT4))).astype(int).tolist() == [[1, 5], [2, 6], [3, 7]]
    assert materialize(open_kernel("pack_rows", [codes], (4, (2, 1, 2), 15))).tolist() == [[[0x21, 0xF3]], [[0x65, 0xF7]]]
    assert materialize(codes).dtype == ml_dtypes.uint4
