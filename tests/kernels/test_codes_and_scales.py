"""What scales and codes are, against plain numpy on the whole array."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from qdqtool.kernels import codes, scales
from qdqtool.kernels.sources import ArraySource

TYPES = (np.int8, np.uint8, np.int16, np.int32, np.float32, np.float16)
SMALL = (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.bfloat16)
SHAPES = ((3, 5, 7), (1, 600), (600, 1), (3, 600), (40, 30), (2, 40, 30), (2, 3, 600), (6, 4, 3, 3))
RANDOM = np.random.default_rng(0)


def expected(array: np.ndarray[Any, Any], axis: int | None) -> tuple[Any, Any]:
    wide = array.astype(np.float64)
    others = tuple(i for i in range(array.ndim) if i != axis)
    return np.atleast_1d(wide.min(axis=others)), np.atleast_1d(wide.max(axis=others))


@pytest.mark.parametrize("dtype", [*TYPES, *SMALL])
@pytest.mark.parametrize("shape", SHAPES)
def test_least_and_greatest_by_index(dtype: Any, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codes, "TILE", 256)
    array = RANDOM.integers(0, 2, shape).astype(dtype) if dtype is ml_dtypes.int2 else RANDOM.integers(0, 8, shape).astype(dtype)
    for axis in (None, *range(len(shape))):
        found = codes.codes(ArraySource(array), axis)
        low, high = expected(array, axis)
        assert (found.lows == low).all()
        assert (found.highs == high).all()
        assert found.count == array.size
        assert found.nan == 0


@pytest.mark.parametrize(
    ("dtype", "low", "high"), [(np.int8, -128, 127), (ml_dtypes.int4, -8, 7), (np.uint8, 0, 255), (np.int32, -(2**31), 2**31 - 1)]
)
def test_codes_at_the_ends(dtype: Any, low: int, high: int) -> None:
    array = np.array([low, low, high, 1, 2, 3, high, high], np.int64).astype(dtype).reshape(2, 4)
    found = codes.codes(ArraySource(array), 0)
    assert (found.at_low, found.at_high) == (2, 3)
    assert (found.low, found.high) == (low, high)


def test_narrow_range_of_signed_types_counts_as_an_end() -> None:
    assert codes.codes(ArraySource(np.array([-127, 127, 0], np.int8)), None).at_low == 1


def test_nan_codes_are_counted_and_left_out() -> None:
    array = np.array([[np.nan, 1, 2], [np.nan, np.nan, -3]], np.float32).astype(ml_dtypes.float8_e4m3fn)
    found = codes.codes(ArraySource(array), 0)
    assert found.nan == 3
    assert (found.lows.tolist(), found.highs.tolist()) == ([1, -3], [2, -3])


@settings(max_examples=60, deadline=None)
@given(arrays.arrays(np.float32, st.integers(1, 40), elements=st.floats(width=32) | st.just(0.0) | st.just(1e-40)))
def test_kinds_of_scales(array: np.ndarray[Any, Any]) -> None:
    found = scales.scales(ArraySource(array))
    finite = np.isfinite(array)
    assert found.count == array.size
    for spot, where in (
        (found.zero, array == 0),
        (found.negative, array < 0),
        (found.special, ~finite),
        (found.subnormal, finite & (array != 0) & (np.abs(array) < 2.0**-126)),
    ):
        assert spot.number == where.sum()
        assert spot.first == (int(where.argmax()) if where.any() else -1)
    used = np.abs(array[finite & (array != 0)])
    assert (found.least, found.greatest) == ((used.min(), used.max()) if used.size else (np.inf, 0))
