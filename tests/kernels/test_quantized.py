"""The tiled quantizer gives the codes of the whole-array kernel, also at ties, extremes and NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdqtool import dtypes
from qdqtool.dtypes import BFLOAT16, FLOAT, FLOAT8, FLOAT8E8M0, FLOAT16, INT32, ElementType
from qdqtool.kernels.sources import ArraySource, materialize
from qdqtool.quantization import Blocked, Granularity, PerAxis, PerTensor
from tests.kernels.samples import STORAGE, as_type, quantize_rows, quotients
from tests.kernels.streams import granularities, in_tiles, parameters_for, plain_codes, random_zeros, shapes, small_parts
from tests.kernels.test_quantize import FORMS

Array = np.ndarray[Any, np.dtype[Any]]


def opened(
    x: Array, scale: Array, zero: Array | None, granularity: Granularity, storage: ElementType, compute: ElementType, saturate: bool = True
) -> Any:
    sources = [ArraySource(array) for array in (x, scale, zero) if array is not None]
    return in_tiles("quantize", sources, (granularity, storage, compute, saturate))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_range_of_any_tensor(data: st.DataObject) -> None:
    shape, storage = data.draw(shapes()), data.draw(st.sampled_from([*STORAGE, INT32]))
    granularity = data.draw(granularities(shape))
    x_type, scale_type, compute = data.draw(st.sampled_from(FORMS))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    parameters, saturate = parameters_for(shape, granularity), data.draw(st.booleans())
    picks = quotients(storage) if data.draw(st.booleans()) else np.linspace(-40, 40, 97)
    x = as_type(picks[rng.integers(0, len(picks), shape)], x_type)
    scale = as_type(rng.choice([1.0, 0.5, 3.0, 0.37], parameters), scale_type)
    zero = random_zeros(rng, parameters, storage) if data.draw(st.booleans()) else None
    how = {"storage": storage, "compute": compute, "saturate": saturate}
    expected = plain_codes(x, scale, zero, granularity, **how)
    with small_parts(data):
        source = opened(x, scale, zero, granularity, storage, compute, saturate)
        for _ in range(3):
            start = data.draw(st.integers(0, x.size))
            stop = data.draw(st.integers(start, x.size))
            assert source.read(start, stop).tobytes() == expected[start:stop].tobytes()


@pytest.mark.parametrize("form", FORMS, ids=lambda f: "-".join(t.name for t in f))
@pytest.mark.parametrize("storage", [*STORAGE, INT32], ids=repr)
def test_codes_ties_and_extremes(storage: ElementType, form: tuple[ElementType, ElementType, ElementType]) -> None:
    x_type, scale_type, compute = form
    x, scale, zero = quantize_rows(storage, x_type, scale_type)
    for saturate in (True, False) if storage in FLOAT8 else (True,):
        for offset in (zero, None):
            given_ = {"storage": storage, "compute": compute, "saturate": saturate}
            expected = plain_codes(x, scale, offset, PerAxis(0), **given_)
            assert materialize(opened(x, scale, offset, PerAxis(0), storage, compute, saturate)).tobytes() == expected.tobytes()


@pytest.mark.parametrize("storage", [t for t in STORAGE if t.small_float], ids=repr)
@pytest.mark.parametrize("saturate", [True, False])
def test_the_upper_half_of_every_quotient_and_its_neighbours(storage: ElementType, saturate: bool) -> None:
    high = np.arange(1 << 16, dtype=np.uint32) << 16
    x = np.concatenate([high | low for low in np.uint32([0, 1, 0x7FFF, 0x8000, 0xFFFF])]).view(np.float32)
    one = np.float32(1)
    expected = plain_codes(x, one, None, PerTensor(), storage=storage, compute=FLOAT, saturate=saturate)
    assert materialize(opened(x, one, None, PerTensor(), storage, FLOAT, saturate)).tobytes() == expected.tobytes()


@pytest.mark.parametrize("storage", [dtypes.INT4, dtypes.UINT8, dtypes.INT16, dtypes.FLOAT8E5M2], ids=repr)
@pytest.mark.parametrize("granularity", [PerTensor(), PerAxis(1), Blocked(1, 32), Blocked(0, 7)], ids=str)
def test_tensors_of_many_tiles(granularity: Granularity, storage: ElementType) -> None:
    shape, rng = (129, 3000), np.random.default_rng(5)
    parameters = parameters_for(shape, granularity)
    x = rng.normal(0, 20, shape).astype(np.float32)
    scale, zero = np.exp(rng.normal(0, 1, parameters)).astype(np.float32), random_zeros(rng, parameters, storage)
    expected = plain_codes(x, scale, zero, granularity, storage=storage, compute=FLOAT)
    assert materialize(opened(x, scale, zero, granularity, storage, FLOAT)).tobytes() == expected.tobytes()


def test_types_of_all_forms_are_met() -> None:
    assert {t for form in FORMS for t in form} == {FLOAT, FLOAT16, BFLOAT16, FLOAT8E8M0, INT32}
