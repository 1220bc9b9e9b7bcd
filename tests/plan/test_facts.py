from __future__ import annotations

import math
from collections import Counter
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdqtool import dtypes
from qdqtool.expressions import Computed, Literal, Stored, literal
from qdqtool.kernels.sources import ArraySource
from qdqtool.plan import facts
from qdqtool.plan.facts import Facts, FloatCodes

F32 = dtypes.FLOAT
NAN, INF = float("nan"), float("inf")


def asked(question: str, values: Any, dtype: dtypes.ElementType, *params: Any) -> Any:
    return Facts(lambda stored: pytest.fail("nothing is stored")).ask(question, literal(values, dtype), *params)


@pytest.mark.parametrize(
    ("values", "axis", "expected"),
    [
        ([[1, 2], [1, 2]], 0, True),
        ([[1, 2], [1, 2]], 1, False),
        ([[1, 1], [2, 2]], 1, True),
        ([0.0, -0.0], 0, False),
        ([NAN, NAN], 0, True),
        ([0.1, np.nextafter(np.float32(0.1), np.float32(1))], 0, False),
        ([[[1, 2], [3, 4]], [[1, 2], [3, 4]]], 0, True),
        ([[[1, 2], [3, 4]], [[1, 2], [3, 5]]], 0, False),
        ([7], 0, True),
    ],
)
def test_equal_along(values: Any, axis: int, expected: bool) -> None:
    assert asked("equal_along", values, F32, axis) is expected


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([0.0, 1.5, -6.0], dtypes.FLOAT4E2M1, FloatCodes(True, False, 1, 12)),
        ([-0.0, 4.0], dtypes.FLOAT4E2M1, FloatCodes(True, True, 0, 4)),
        ([], dtypes.FLOAT4E2M1, FloatCodes(True, False, 0, 0)),
        ([0.0, 0.0], dtypes.FLOAT4E2M1, FloatCodes(True, False, 0, 0)),
        ([NAN, 1.0], dtypes.FLOAT8E4M3FN, FloatCodes(False, False, 0, 1)),
        ([-INF, 2.0**-16], dtypes.FLOAT8E5M2, FloatCodes(False, False, 16, 1)),
        ([448.0, 2.0**-9], dtypes.FLOAT8E4M3FN, FloatCodes(True, False, 9, 448 << 9)),
        ([-57344.0], dtypes.FLOAT8E5M2, FloatCodes(True, False, 0, 57344)),
        ([0.25, 28.0], dtypes.FLOAT6E3M2, FloatCodes(True, False, 2, 112)),
    ],
)
def test_float_codes(values: Any, dtype: dtypes.ElementType, expected: FloatCodes) -> None:
    assert asked("float_codes", values, dtype) == expected


@pytest.mark.parametrize(
    ("values", "exponent", "expected"),
    [
        ([0.1, -3e38], 20, True),
        ([2.0**-126], 23, True),
        ([2.0**-126 * 1.5], 23, False),
        ([2.0**-149], 1, False),
        ([0.0], 30, True),
        ([1.0, 2.0**-149], 1, False),
    ],
)
def test_divides(values: Any, exponent: int, expected: bool) -> None:
    assert asked("divides", values, F32, exponent) is expected


@pytest.mark.parametrize(("values", "expected"), [([3, -2, 5], (-2, 5)), ([], (0, 0)), ([[4]], (4, 4))])
def test_value_range(values: Any, expected: tuple[float, float]) -> None:
    assert asked("value_range", values, dtypes.INT16) == expected


def test_all_tiles_are_looked_at() -> None:
    codes = np.zeros(1 << 19, np.int16)
    codes[-1] = 9
    assert asked("value_range", codes, dtypes.INT16) == (0, 9)


def test_a_constant_is_read_once_for_each_question() -> None:
    opened: Counter[str] = Counter()

    def open_stored(stored: Stored) -> ArraySource:
        opened[stored.name] += 1
        return ArraySource(np.float32([1, 1, 2]))

    facts, stored = Facts(open_stored), Stored((), "s", F32, (3,))
    assert [facts.ask("equal_along", stored, 0) for _ in range(3)] == [False] * 3
    assert opened == {"s": 1}
    first = Computed("first", (stored,), ((0,), ()), F32, ())
    assert facts.ask("value_range", first) == (1, 1)
    assert facts.ask("value_range", Literal(b"", F32, (0,))) == (0, 0)
    assert opened == {"s": 2}


@given(st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple), st.data())
@settings(max_examples=100, deadline=None)
def test_changes_along_an_axis_whatever_the_tiles(shape: tuple[int, ...], data: st.DataObject) -> None:
    axis, block = data.draw(st.integers(0, len(shape) - 1)), data.draw(st.integers(1, 4))
    picks = st.integers(0, 2) if data.draw(st.booleans()) else st.just(1)
    blocks = [-(-n // block) if d == axis else n for d, n in enumerate(shape)]
    values = np.array([data.draw(picks) for _ in range(np.prod(blocks))], np.float32).reshape(blocks)
    values = np.repeat(values, block, axis)[(slice(None),) * axis + (slice(shape[axis]),)]
    rows = np.moveaxis(values, axis, 0).reshape(shape[axis], -1)
    places = [k for k in range(1, shape[axis]) if (rows[k] != rows[k - 1]).any()]
    with patch.object(facts, "TILE", data.draw(st.integers(1, 9))):
        assert asked("period", values, F32, axis) == math.gcd(*places)
        assert asked("equal_along", values, F32, axis) is (not places)
