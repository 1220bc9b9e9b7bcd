from __future__ import annotations

import numpy as np
import pytest

from qdqtool.dtypes import BFLOAT16, FLOAT, FLOAT8E8M0, FLOAT16, INT32, ElementType
from qdqtool.kernels.dequantize import dequantize
from tests.formats import same_bits
from tests.kernels.samples import STORAGE, as_type, codes_of, zero_points
from tests.oracle import oracle_dequantize

FORMS = [
    (FLOAT, FLOAT),
    (FLOAT16, FLOAT16),
    (BFLOAT16, BFLOAT16),
    (FLOAT16, FLOAT),
    (FLOAT, FLOAT16),
    (FLOAT, BFLOAT16),
    (FLOAT8E8M0, FLOAT),
    (FLOAT8E8M0, FLOAT16),
    (FLOAT8E8M0, BFLOAT16),
]
SCALES = [1.0, 0.1, -0.0123, 3e-5, 1e-40, 2.0**-149, 2.0**-127, 65504.0, 3e38, 0.0, -0.0, np.inf, np.nan]


@pytest.mark.parametrize("form", FORMS, ids=lambda f: "-".join(t.name for t in f))
@pytest.mark.parametrize("storage", [*STORAGE, INT32], ids=repr)
def test_equals_the_oracle_for_every_code(storage: ElementType, form: tuple[ElementType, ElementType]) -> None:
    scale_type, expressed = form
    scale, zero = as_type(SCALES, scale_type), zero_points(storage, len(SCALES))
    q = np.broadcast_to(codes_of(storage), (len(SCALES), codes_of(storage).size))
    given = {"expressed": expressed, "axis": 0, "block": None}
    assert same_bits(dequantize(q, scale, zero, **given), oracle_dequantize(q, scale, zero, **given), expressed)


@pytest.mark.parametrize("storage", [*STORAGE, INT32], ids=repr)
def test_equals_the_oracle_without_zero_point(storage: ElementType) -> None:
    q, scale = codes_of(storage), np.float32(0.1).reshape(1)
    given = {"expressed": FLOAT, "axis": None, "block": None}
    assert same_bits(dequantize(q, scale, None, **given), oracle_dequantize(q, scale, None, **given), FLOAT)


def test_every_e8m0_scale_is_exact_in_float32() -> None:
    scale = np.arange(256, dtype=np.uint8).view(FLOAT8E8M0.numpy)
    result = dequantize(np.ones(256, np.int8), scale, None, expressed=FLOAT, axis=0, block=None)
    assert np.array_equal(result, [*np.ldexp(1.0, np.arange(-127, 128)), np.nan], equal_nan=True)


def test_int32_difference_wraps() -> None:
    q, zero = np.array([-(2**31)], np.int32), np.ones((), np.int32)
    assert dequantize(q, np.ones((), np.float32), zero, expressed=FLOAT, axis=None, block=None) == 2.0**31


def test_the_product_is_rounded_once_and_the_scale_not_at_all() -> None:
    q = np.array([3], np.int16)
    scale = np.float32(1 + 2**-12).reshape(())
    assert dequantize(q, scale, None, expressed=FLOAT16, axis=None, block=None) == np.float16(3.0)
    assert dequantize(q * 1365, scale, None, expressed=FLOAT16, axis=None, block=None) == np.float16(4096.0)


def test_rank_0_per_tensor() -> None:
    result = dequantize(np.array(7, np.uint8), np.array([0.5], np.float32), np.array(3, np.uint8), expressed=FLOAT, axis=None, block=None)
    assert result.shape == ()
    assert result == 2.0
