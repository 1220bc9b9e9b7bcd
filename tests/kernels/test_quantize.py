from __future__ import annotations

import numpy as np
import pytest

from qdqtool import dtypes
from qdqtool.dtypes import BFLOAT16, FLOAT, FLOAT8, FLOAT8E8M0, FLOAT16, INT8, INT32, UINT8, ElementType
from qdqtool.kernels.quantize import quantize
from tests.formats import same_bits
from tests.kernels.samples import STORAGE, quantize_rows
from tests.oracle import oracle_quantize

FORMS = [
    (FLOAT, FLOAT, FLOAT),
    (FLOAT16, FLOAT16, FLOAT),
    (FLOAT16, FLOAT16, FLOAT16),
    (BFLOAT16, BFLOAT16, BFLOAT16),
    (BFLOAT16, BFLOAT16, FLOAT),
    (FLOAT, FLOAT16, FLOAT16),
    (FLOAT16, FLOAT, FLOAT),
    (FLOAT, FLOAT, FLOAT16),
    (FLOAT, BFLOAT16, BFLOAT16),
    (FLOAT, FLOAT8E8M0, FLOAT8E8M0),
    (FLOAT16, FLOAT8E8M0, FLOAT),
    (INT32, FLOAT, FLOAT),
    (INT32, INT32, INT32),
]


@pytest.mark.parametrize("form", FORMS, ids=lambda f: "-".join(t.name for t in f))
@pytest.mark.parametrize("storage", [*STORAGE, INT32], ids=repr)
def test_equals_the_oracle_at_codes_ties_and_extremes(storage: ElementType, form: tuple[ElementType, ElementType, ElementType]) -> None:
    x_type, scale_type, compute = form
    x, scale, zero = quantize_rows(storage, x_type, scale_type)
    for saturate in (True, False) if storage in FLOAT8 else (True,):
        given = {"storage": storage, "axis": 0, "block": None, "compute": compute, "saturate": saturate}
        assert same_bits(quantize(x, scale, zero, **given), oracle_quantize(x, scale, zero, **given), storage)


@pytest.mark.parametrize("storage", STORAGE, ids=repr)
def test_equals_the_oracle_without_zero_point(storage: ElementType) -> None:
    x, scale, _ = quantize_rows(storage, FLOAT, FLOAT)
    given = {"storage": storage, "axis": 0, "block": None, "compute": FLOAT}
    assert same_bits(quantize(x, scale, None, **given), oracle_quantize(x, scale, None, **given), storage)


@pytest.mark.parametrize("storage", [t for t in STORAGE if t.integer and t.bits <= 8], ids=repr)
def test_equals_the_oracle_around_every_code_and_tie(storage: ElementType) -> None:
    zero = np.ones((), storage.numpy)
    exact = np.arange(2 * storage.low - 3, 2 * storage.high + 4, dtype=np.float32) / 2
    x = np.concatenate([exact, np.nextafter(exact, np.float32(np.inf)), np.nextafter(exact, np.float32(-np.inf))])
    for scale in (1.0, 0.75):
        given = {"storage": storage, "axis": None, "block": None, "compute": FLOAT}
        one = np.float32(scale).reshape(())
        assert same_bits(quantize(x, one, zero, **given), oracle_quantize(x, one, zero, **given), storage)


@pytest.mark.parametrize("storage", STORAGE, ids=repr)
def test_divides_once_in_the_compute_type(storage: ElementType) -> None:
    rng = np.random.default_rng(storage.code)
    x, scale = rng.standard_normal(4000).astype(np.float16), np.float16(0.0123).reshape(())
    for compute in (FLOAT, FLOAT16, BFLOAT16):
        given = {"storage": storage, "axis": None, "block": None, "compute": compute}
        assert same_bits(quantize(x, scale, None, **given), oracle_quantize(x, scale, None, **given), storage)


def by_hand(x: list[float], scale: float, zero: int, storage: ElementType, compute: ElementType = FLOAT) -> list[int]:
    result = quantize(
        np.array(x, np.float32),
        np.float32(scale).reshape(()),
        storage.numpy.type(zero).reshape(()),
        storage=storage,
        axis=None,
        block=None,
        compute=compute,
    )
    return [int(v) for v in result]


def test_ties_go_to_even_before_the_zero_point_is_added() -> None:
    assert by_hand([0.5, 1.5, 2.5, -0.5, -1.5], 1.0, 3, INT8) == [3, 5, 5, 3, 1]


def test_infinities_saturate_and_nan_gives_the_lowest_code() -> None:
    assert by_hand([np.inf, -np.inf, np.nan, 1e30, -1e30], 1.0, 5, UINT8) == [255, 0, 0, 255, 0]
    assert by_hand([np.inf, -np.inf, np.nan], 1.0, 5, INT8) == [127, -128, -128]


def test_a_zero_scale_saturates_by_the_sign_of_x() -> None:
    assert by_hand([2.0, -2.0, 0.0], 0.0, 5, INT8) == [127, -128, -128]


def test_x_is_converted_to_the_compute_type_first() -> None:
    assert by_hand([70000.0], 1000.0, 0, INT8, FLOAT) == [70]
    assert by_hand([70000.0], 1000.0, 0, INT8, FLOAT16) == [127]


def test_a_float8_zero_point_is_ignored_and_a_float4_one_added() -> None:
    one = np.ones((), np.float32)
    for storage, expected in ((dtypes.FLOAT8E4M3FN, 2.0), (dtypes.FLOAT4E2M1, 3.0)):
        code = quantize(np.array([2.0], np.float32), one, one.astype(storage.numpy), storage=storage, axis=None, block=None, compute=FLOAT)
        assert float(code[0]) == expected


def test_a_zero_point_of_zero_loses_minus_zero_in_float4_only() -> None:
    x, one = np.array([-0.0], np.float32), np.ones((), np.float32)
    for storage, with_zero in ((dtypes.FLOAT8E5M2, 0x80), (dtypes.FLOAT4E2M1, 0)):
        given = {"storage": storage, "axis": None, "block": None, "compute": FLOAT}
        zero = np.zeros((), storage.numpy)
        assert quantize(x, one, zero, **given).view(np.uint8) == with_zero
        assert quantize(x, one, None, **given).view(np.uint8) == 1 << (storage.bits - 1)
