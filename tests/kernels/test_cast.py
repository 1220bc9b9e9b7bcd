from __future__ import annotations

import numpy as np
import pytest

from qdqtool import dtypes
from qdqtool.dtypes import BOOL, FLOAT8, FLOAT8E8M0, ElementType
from qdqtool.errors import QdqtoolError
from qdqtool.kernels.cast import cast
from tests.formats import bits_of, same_bits
from tests.kernels.samples import EXTREMES, FLOAT_STORAGE, INTEGER_STORAGE, as_type, codes_of, quotients
from tests.oracle import oracle_cast

TYPES = [t for t in dtypes.ALL if t.kind not in ("string", "complex")]
WIDE_FLOATS = [dtypes.FLOAT, dtypes.FLOAT16, dtypes.BFLOAT16, dtypes.DOUBLE]


def sample(source: ElementType) -> np.ndarray:
    if source is BOOL:
        return np.array([False, True])
    if source.integer or source.bits <= 8:
        return codes_of(source) if source.bits <= 32 else np.array([0, 1, 2**33 + 5, int(source.low), int(source.high)], source.numpy)
    near = [quotients(t).astype(np.float64) for t in (dtypes.INT4, dtypes.INT16, dtypes.FLOAT4E2M1)]
    return (
        np.concatenate(near).astype(np.float32).astype(source.numpy) if source is not dtypes.DOUBLE else np.concatenate(near) * (1 + 2**-40)
    )


@pytest.mark.filterwarnings("ignore:.*encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("source", TYPES, ids=repr)
def test_equals_the_oracle_from_each_type_to_each(source: ElementType) -> None:
    x = sample(source)
    for to in TYPES:
        if to is not source:
            assert same_bits(cast(x, to), oracle_cast(x, to), to), to


@pytest.mark.parametrize("saturate", [True, False])
@pytest.mark.parametrize("to", FLOAT_STORAGE, ids=repr)
def test_equals_the_oracle_at_all_codes_and_ties_of_small_floats(to: ElementType, saturate: bool) -> None:
    marks = np.unique(codes_of(to).astype(np.float32))
    marks = marks[np.isfinite(marks)]
    ties = (marks[1:] + marks[:-1]) / 2
    exact = np.concatenate([marks, ties, np.float32([to.high * f for f in (1.03, 1.0357142, 1.05, 1.0714286, 1.09, 2)])])
    x = np.concatenate([exact, np.nextafter(exact, np.float32(np.inf)), np.nextafter(exact, -np.float32(np.inf)), np.float32(EXTREMES)])
    assert same_bits(cast(x, to, saturate=saturate), oracle_cast(x, to, saturate=saturate), to)
    assert same_bits(cast(-x, to, saturate=saturate), oracle_cast(-x, to, saturate=saturate), to)


@pytest.mark.parametrize("source", WIDE_FLOATS[:3], ids=repr)
@pytest.mark.parametrize("saturate", [True, False])
@pytest.mark.parametrize("round_mode", ["up", "down", "nearest"])
def test_equals_the_oracle_for_powers_of_two(round_mode: str, saturate: bool, source: ElementType) -> None:
    powers = np.ldexp(1.0, [-149, -128, -127, -126, -1, 0, 1, 126, 127])
    x = as_type(np.concatenate([np.outer(powers, [1, 1.25, 1.5, 1.75, -1]).ravel(), EXTREMES]), source)
    given = {"saturate": saturate, "round_mode": round_mode}
    assert same_bits(cast(x, FLOAT8E8M0, **given), oracle_cast(x, FLOAT8E8M0, **given), FLOAT8E8M0)


def test_float_to_integer_truncates_and_wraps() -> None:
    x = np.array([1.9, -1.9, 300.5, -129.0, 3e9, np.inf, np.nan], np.float32)
    assert cast(x, dtypes.INT8).tolist() == [1, -1, 44, 127, 0, 0, 0]
    assert cast(x, dtypes.INT32).tolist() == [1, -1, 300, -129, *[-(2**31)] * 3]


def test_float_to_four_bits_rounds_half_away() -> None:
    x = np.array([0.5, -0.5, 2.5, -2.5, 0.49999997, 7.6], np.float32)
    assert cast(x, dtypes.INT4).tolist() == [1, -1, 3, -3, 0, -8]


@pytest.mark.parametrize("to", INTEGER_STORAGE, ids=repr)
def test_integers_keep_their_low_bits(to: ElementType) -> None:
    x = np.arange(-70000, 70000, 7, dtype=np.int32)
    assert np.array_equal(bits_of(cast(x, to)), x.astype(np.int64).view(np.uint64) & np.uint64((1 << to.bits) - 1))


def test_float8_overflow_follows_the_table() -> None:
    ends = {"float8e4m3fn": (464.0, 448.0, np.nan), "float8e5m2": (61440.0 * (1 - 2**-24), 57344.0, np.inf)}
    for to in FLOAT8:
        last, high, beyond = ends.get(to.name, (to.high, to.high, np.nan))
        x = np.array([last, 1e6, np.inf, -np.inf], np.float32)
        assert np.array_equal(np.abs(cast(x, to, saturate=False).astype(np.float32)), [high, beyond, beyond, beyond], equal_nan=True)
        assert np.array_equal(cast(x, to).astype(np.float32), [high, to.high, to.high, -to.high])


def test_nan_gets_the_codes_that_onnxruntime_writes() -> None:
    x = np.array([np.nan, -np.nan], np.float32)
    codes = {"float8e4m3fn": [0x7F, 0xFF], "float8e5m2": [0x7F, 0xFF], "float8e4m3fnuz": [0x80] * 2, "float8e5m2fnuz": [0x80] * 2}
    for to in FLOAT8:
        assert cast(x, to).view(np.uint8).tolist() == codes[to.name]


def test_upper_half_of_uint64() -> None:
    assert cast(np.array([2.0**63, 1.5 * 2.0**63]), dtypes.UINT64).tolist() == [2**63, 3 * 2**62]


def test_same_type_is_the_same_array() -> None:
    x = np.zeros(3, np.float32)
    assert cast(x, dtypes.FLOAT) is x


def test_strings_are_no_numbers() -> None:
    with pytest.raises(QdqtoolError, match="string is not numeric"):
        cast(np.zeros(1, np.float32), dtypes.STRING)
