"""The tiled evaluator gives the bits of the whole-array kernel: all types, granularities, ranges and ways to split the work."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdqtool import dtypes
from qdqtool.dtypes import BFLOAT16, FLOAT, FLOAT8E8M0, FLOAT16, INT32, UINT32, ElementType
from qdqtool.kernels import parameter, recode
from qdqtool.kernels.sources import ArraySource, fill, materialize
from qdqtool.kernels.whole import Whole
from qdqtool.quantization import Blocked, Granularity, PerAxis, PerTensor, Tiles
from tests.kernels.samples import STORAGE, as_type, codes_of
from tests.kernels.streams import (
    bits,
    granularities,
    in_tiles,
    laid,
    parameters_for,
    plainly,
    random_codes,
    random_zeros,
    shapes,
    small_parts,
    stored,
)

Array = np.ndarray[Any, np.dtype[Any]]
CODES = [*STORAGE, INT32, UINT32]


def opened(q: Array, scale: Array, zero: Array | None, granularity: Granularity, expressed: ElementType, *, packed: bool = False) -> Any:
    codes = stored(q, dtypes.of_numpy(q.dtype), packed=packed)
    sources = [codes, ArraySource(scale), *([] if zero is None else [ArraySource(zero)])]
    return in_tiles("dequantize", sources, (granularity, expressed))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_range_of_any_tensor(data: st.DataObject) -> None:
    shape, storage = data.draw(shapes()), data.draw(st.sampled_from(CODES))
    granularity, expressed = data.draw(granularities(shape)), data.draw(st.sampled_from([FLOAT, FLOAT16, BFLOAT16]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    q, parameters = random_codes(rng, shape, storage), parameters_for(shape, granularity)
    scale = as_type(np.exp(rng.normal(0, 4, parameters)), data.draw(st.sampled_from([FLOAT, FLOAT16, BFLOAT16, FLOAT8E8M0])))
    zero = random_zeros(rng, parameters, storage) if data.draw(st.booleans()) else None
    expected = plainly(q, scale, zero, granularity, expressed)
    with small_parts(data):
        source = opened(q, scale, zero, granularity, expressed, packed=data.draw(st.booleans()))
        for _ in range(3):
            start = data.draw(st.integers(0, q.size))
            stop = data.draw(st.integers(start, q.size))
            assert source.read(start, stop).tobytes() == expected[start:stop].tobytes()


@pytest.mark.parametrize("expressed", [FLOAT, FLOAT16, BFLOAT16], ids=repr)
@pytest.mark.parametrize("storage", STORAGE, ids=repr)
def test_every_code_with_every_kind_of_scale(storage: ElementType, expressed: ElementType) -> None:
    scale = np.float32([1.0, 0.1, -0.0123, 3e-5, 1e-40, 2.0**-149, 65504.0, 3e38, 0.0, -0.0, np.inf, np.nan])
    codes = codes_of(storage)
    q = np.broadcast_to(codes, (scale.size, codes.size)).copy()
    for zero in (None, random_zeros(np.random.default_rng(1), (scale.size,), storage), np.zeros(scale.size, storage.numpy)):
        expected = bits(plainly(q, scale, zero, PerAxis(0), expressed))
        for packed in (True, False):
            got = materialize(opened(q, scale, zero, PerAxis(0), expressed, packed=packed))
            assert bits(got.reshape(-1)) == expected


@pytest.mark.parametrize("storage", [t for t in STORAGE if t.bits == 8], ids=repr)
def test_codes_of_one_tile_without_nan(storage: ElementType) -> None:
    finite = [c for c in codes_of(storage) if np.isfinite(np.float32(c))]
    q, scale = np.array(finite, storage.numpy).reshape(1, -1), np.float32([0.3])
    assert materialize(opened(q, scale, None, PerTensor(), FLOAT)).tobytes() == plainly(q, scale, None, PerTensor(), FLOAT).tobytes()


def test_every_code_of_16_bits() -> None:
    q = np.arange(1 << 16, dtype=np.uint16)
    for codes in (q, q.view(np.int16)):
        scale, zero = np.float32(0.0137), codes[77]
        for expressed in (FLOAT, FLOAT16, BFLOAT16):
            got = materialize(opened(codes, scale, zero, PerTensor(), expressed))
            assert got.tobytes() == plainly(codes, scale, zero, PerTensor(), expressed).tobytes()


LARGE = {
    "per tensor": ((1 << 19) + 3,),
    "axis 0": (301, 1789),
    "blocks of 32, last axis": (127, 4096),
}
HOW: dict[str, Granularity] = {"per tensor": PerTensor(), "axis 0": PerAxis(0), "blocks of 32, last axis": Blocked(1, 32)}
MORE: list[tuple[tuple[int, ...], Granularity]] = [
    ((301, 1789), PerAxis(1)),
    ((64, 64, 3, 33), PerAxis(1)),
    ((70_001, 7), PerAxis(1)),
    ((1031, 512), Blocked(0, 32)),
    ((1031, 500), Blocked(1, 32)),
    ((13, 40_001), Blocked(1, 64)),
    ((515, 1030), Tiles(((0, 128), (1, 128)))),
    ((512, 1024), Tiles(((0, 128), (1, 128)))),
    ((40, 3, 50, 90), Tiles(((0, 1), (2, 7)))),
]


@pytest.mark.parametrize(("shape", "granularity"), [*((LARGE[name], HOW[name]) for name in LARGE), *MORE], ids=str)
@pytest.mark.parametrize("storage", [dtypes.INT4, dtypes.UINT2, dtypes.INT8, dtypes.FLOAT8E4M3FN, dtypes.FLOAT6E3M2], ids=repr)
def test_tensors_of_many_tiles(shape: tuple[int, ...], granularity: Granularity, storage: ElementType) -> None:
    rng = np.random.default_rng(prod(shape))
    q, parameters = random_codes(rng, shape, storage), parameters_for(shape, granularity)
    scale, zero = np.exp(rng.normal(0, 1, parameters)).astype(np.float32), random_zeros(rng, parameters, storage)
    expected = plainly(q, scale, zero, granularity, FLOAT)
    source, out = opened(q, scale, zero, granularity, FLOAT, packed=storage.packed), np.empty(q.size, np.float32)
    for start, stop in ((0, q.size), (12_345, q.size - 7)):
        fill(source, start, out[start:stop])
        assert out[start:stop].tobytes() == expected[start:stop].tobytes()


def test_scales_too_many_to_be_held() -> None:
    shape, granularity = (300, 4096), Blocked(1, 2)
    rng = np.random.default_rng(3)
    q = random_codes(rng, shape, dtypes.INT8)
    scale = rng.random(parameters_for(shape, granularity)).astype(np.float32)
    longest: list[int] = []

    class Watched(ArraySource):
        def read(self, start: int, stop: int) -> Array:
            longest.append(stop - start)
            return ArraySource.read(self, start, stop)

    source = in_tiles("dequantize", [ArraySource(q), Watched(scale)], (granularity, FLOAT))
    assert materialize(source).reshape(-1).tobytes() == plainly(q, scale, None, granularity, FLOAT).tobytes()
    assert max(longest) <= scale.size / 4


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_small_tensor_is_computed_whole(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    granularity, rng = data.draw(granularities(shape)), np.random.default_rng(0)
    q, parameters = random_codes(rng, shape, dtypes.INT8), parameters_for(shape, granularity)
    scale, zero = rng.random(parameters).astype(np.float32), random_zeros(rng, parameters, dtypes.INT8)
    sources = [stored(q, dtypes.INT8, packed=True), *map(ArraySource, (scale.reshape(-1), zero.reshape(1, *parameters)))]
    whole = recode.open_kernel("dequantize", sources, (granularity, FLOAT))
    assert isinstance(whole, Whole) == (not isinstance(granularity, Tiles))
    assert materialize(whole).tobytes() == plainly(q, scale, zero, granularity, FLOAT).tobytes()


def test_laid_is_repetition() -> None:
    assert laid(np.arange(4), (3, 3), Tiles(((0, 2), (1, 2)))).tolist() == [0, 0, 1, 0, 0, 1, 2, 2, 3]


@pytest.mark.parametrize("held", [0, 1 << 19])
def test_a_scale_that_is_dequantized_itself(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parameter, "HELD", held)
    rng = np.random.default_rng(0)
    q, inner = random_codes(rng, (64, 4096), dtypes.INT4), random_codes(rng, (64, 128), dtypes.FLOAT4E2M1)
    scales = in_tiles("dequantize", [stored(inner, dtypes.FLOAT4E2M1, packed=True), ArraySource(np.float16(0.1))], (PerTensor(), FLOAT16))
    source = in_tiles("dequantize", [stored(q, dtypes.INT4, packed=True), scales], (Blocked(1, 32), FLOAT16))
    expected = plainly(q, materialize(scales), None, Blocked(1, 32), FLOAT16)
    assert materialize(source).tobytes() == expected.tobytes()
