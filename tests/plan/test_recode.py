"""Each kernel, read by ranges, against whole-array numpy."""

from __future__ import annotations

from math import prod
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdqtool import dtypes
from qdqtool.kernels import recode
from qdqtool.kernels.cast import cast
from qdqtool.kernels.quantize import quantize
from qdqtool.kernels.sources import ArraySource, materialize, size
from qdqtool.quantization import Blocked, PerAxis

Array = np.ndarray[Any, np.dtype[Any]]
RNG = np.random.default_rng(5)
I32 = dtypes.INT32


def ints(shape: tuple[int, ...], dtype: Any = np.int16) -> Array:
    return RNG.integers(-100, 100, shape).astype(dtype)


def reals(shape: tuple[int, ...]) -> Array:
    return RNG.normal(0, 3, shape).astype(np.float32)


def grouped(x: Array, pre: int, length: int, post: int, block: int) -> Array:
    padded = np.zeros((pre, -(-length // block) * block, post), x.dtype)
    padded[:, :length] = x.reshape(pre, length, post)
    return padded.transpose(0, 2, 1).reshape(-1, block)


def spread(zero: Array, axis: int, block: int, length: int) -> Array:
    return np.repeat(zero, block, axis).take(np.arange(length), axis=axis)


X, S = ints((3, 10, 4)), reals((3, 10, 4))
BLOCK_ZERO, AXIS_ZERO = ints((3, 4, 4)), ints((10,))
E8 = np.arange(255, dtype=np.uint8).view(ml_dtypes.float8_e8m0fnu)
F8 = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn)
F4 = np.arange(16, dtype=np.uint8).view(ml_dtypes.float4_e2m1fn)
LONG_ZERO = spread(BLOCK_ZERO, 1, 3, 10)
QUANTIZED = quantize(S, S[0, :, 0] ** 2, None, storage=dtypes.INT8, axis=1, block=None, compute=dtypes.FLOAT)
U4 = np.arange(16, dtype=np.uint8).astype(ml_dtypes.uint4)
NIBBLES = RNG.integers(0, 256, (3, 4)).astype(np.uint8)
LOW_FIRST = np.stack([NIBBLES & 15, NIBBLES >> 4], -1).reshape(3, 8).astype(np.int16)
KERNELS: dict[str, tuple[str, list[Array], tuple[Any, ...], Array]] = {
    "unpack_rows": ("unpack_rows", [NIBBLES], (4, 5, dtypes.INT4), (LOW_FIRST[:, :5] - 8).astype(ml_dtypes.int4)),
    "unpack_columns": ("unpack_columns", [NIBBLES], (4, 5, dtypes.UINT4), LOW_FIRST[:, :5].T.astype(ml_dtypes.uint4)),
    "pack_rows": ("pack_rows", [LOW_FIRST.astype(ml_dtypes.uint4)], (4, (3, 1, 4), 0), NIBBLES.reshape(3, 1, 4)),
    "product": ("product", [S, np.array(8, np.float32)], (), S * 8),
    "recentre": ("recentre", [np.arange(256, dtype=np.uint8)], (dtypes.INT8,), np.arange(-128, 128).astype(np.int8)),
    "recentre uint4": ("recentre", [U4], (dtypes.INT4,), (U4.astype(int) - 8).astype(ml_dtypes.int4)),
    "cast": ("cast", [X], (dtypes.INT32,), X.astype(np.int32)),
    "cast int4 to int8": ("cast", [X.astype(ml_dtypes.int4)], (dtypes.INT8,), X.astype(ml_dtypes.int4).astype(np.int8)),
    "cast e8m0": ("cast", [E8], (dtypes.FLOAT,), np.ldexp(np.float32(1), np.arange(255) - 127)),
    "onnx_cast": ("onnx_cast", [S * 100], (dtypes.FLOAT8E4M3FN, True), cast(S * 100, dtypes.FLOAT8E4M3FN)),
    "onnx_cast without saturation": ("onnx_cast", [S * 200], (dtypes.FLOAT8E5M2, False), cast(S * 200, dtypes.FLOAT8E5M2, saturate=False)),
    "reshape": ("reshape", [X], ((4, 30),), X.reshape(4, 30)),
    "codes": ("codes", [F8], (), np.arange(256, dtype=np.uint8)),
    "codes of float4": ("codes", [F4], (), np.arange(16, dtype=np.uint8)),
    "from_codes": ("from_codes", [np.arange(256, dtype=np.uint8)], (dtypes.FLOAT8E4M3FN,), F8),
    "times": ("times", [F4], (1, dtypes.INT8), (F4.astype(np.float64) * 2).astype(np.int8)),
    "divide": ("divide", [S], (5,), S / np.float32(32)),
    "subtract": ("subtract", [X, np.int16(7)], (None,), X.astype(np.int32) - 7),
    "subtract a vector of one": ("subtract", [X, ints((1,))[:1] * 0 + 7], (None,), X.astype(np.int32) - 7),
    "subtract per axis": ("subtract", [X, AXIS_ZERO], ((1, 1),), X.astype(np.int32) - AXIS_ZERO[None, :, None].astype(np.int32)),
    "subtract by blocks": ("subtract", [X, BLOCK_ZERO], ((1, 3),), X.astype(np.int32) - spread(BLOCK_ZERO, 1, 3, 10).astype(np.int32)),
    "subtract by blocks of one": ("subtract", [X, X[::-1]], ((1, 1),), X.astype(np.int32) - X[::-1].astype(np.int32)),
    "subtract by one long block": ("subtract", [X, X[:, :1]], ((1, 99),), X.astype(np.int32) - X[:, :1].astype(np.int32)),
    "subtract wraps": ("subtract", [np.int32([-(2**31), 5]), np.int32(1)], (None,), np.int32([2**31 - 1, 4])),
    "regroup in place": ("regroup", [X], (30, 4, 1, 2), X.reshape(60, 2)),
    "regroup": ("regroup", [X], (3, 10, 4, 5), grouped(X, 3, 10, 4, 5)),
    "regroup ragged": ("regroup", [X], (3, 10, 4, 4), grouped(X, 3, 10, 4, 4)),
    "regroup ragged, last axis": ("regroup", [X], (12, 10, 1, 4), grouped(X, 12, 10, 1, 4)),
    "regroup one long block": ("regroup", [X], (3, 10, 4, 10), grouped(X, 3, 10, 4, 10)),
    "transpose": ("transpose", [X], ((2, 0, 1),), X.transpose(2, 0, 1)),
    "transpose in part": ("transpose", [X], ((1, 2, 0),), X.transpose(1, 2, 0)),
    "gather": ("gather", [X, np.int64([[3, -1], [0, 3]])], (1,), X[:, [[3, -1], [0, 3]]]),
    "gather along the last axis": ("gather", [X], (2, (3, 0)), X[..., [3, 0]]),
    "gather one": ("gather", [X, np.int64(2)], (0,), X[2]),
    "gather none": ("gather", [X], (0, ()), X[:0]),
    "slice": ("slice", [X], (((2, -1, 2), (1, 3, 3), (0, 1, 4)),), X[2:0:-1, 1::3]),
    "slice of the last axis": ("slice", [X], (((0, 1, 3), (0, 1, 10), (3, -2, 2)),), X[..., ::-2]),
    "concat": ("concat", [X, X[:, :3], X[:, :0]], (1,), np.concatenate([X, X[:, :3]], 1)),
    "concat along the first axis": ("concat", [X, X[:1]], (0,), np.concatenate([X, X[:1]])),
    "concat along the last axis": ("concat", [X, X[..., :1]], (2,), np.concatenate([X, X[..., :1]], 2)),
    "dequantize": ("dequantize", [X, S[:, :4], BLOCK_ZERO], (Blocked(1, 3), dtypes.FLOAT), (X - LONG_ZERO) * spread(S[:, :4], 1, 3, 10)),
    "quantize": ("quantize", [S, S[0, :, 0] ** 2], (PerAxis(1), dtypes.INT8, dtypes.FLOAT, True), QUANTIZED),
    "arithmetic": ("arithmetic", [S, S[:, :1]], ("Div",), S / S[:, :1]),
    "arithmetic in float16": ("arithmetic", [np.float16(S), np.float16(3)], ("Mul",), np.float16(S) * np.float16(3)),
    "reblock": ("reblock", [S], (1, 6, 2, 30), S.repeat(3, 1)),
    "reblock ragged": ("reblock", [S[:, :2]], (1, 6, 2, 5), S[:, [0, 0, 0, 1, 1]]),
    "first": ("first", [X], ((0, 2), (10,)), X[0, :, 0]),
    "first of all": ("first", [X], ((0, 1, 2), ()), X[0, 0, 0]),
    "expand": ("expand", [S[:, :1]], ((3, 10, 4),), np.broadcast_to(S[:, :1], (3, 10, 4))),
    "window": ("window", [X], (1, ((0, 2), (7, 10))), X[:, [0, 1, 7, 8, 9]]),
    "window along the last axis": ("window", [X], (2, ((1, 3),)), X[..., 1:3]),
}  # fmt: skip


def opened(name: str) -> Any:
    kernel, arrays, params, _ = KERNELS[name]
    return recode.open_kernel(kernel, [ArraySource(np.asarray(a)) for a in arrays], params)


@pytest.mark.parametrize("name", KERNELS)
def test_a_whole_tensor(name: str) -> None:
    source, expected = opened(name), KERNELS[name][3]
    got = materialize(source)
    assert (source.shape, source.dtype.numpy) == (expected.shape, expected.dtype) == (got.shape, got.dtype)
    assert got.tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("name", KERNELS)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_any_ranges_in_any_order(name: str, data: st.DataObject) -> None:
    source, expected = opened(name), KERNELS[name][3].reshape(-1)
    for _ in range(4):
        start = data.draw(st.integers(0, size(source)))
        stop = data.draw(st.integers(start, size(source)))
        assert source.read(start, stop).tobytes() == expected[start:stop].tobytes()


@pytest.mark.parametrize("panel", [1, 7, 20, 1000])
def test_a_regrouping_in_small_panels(panel: int, monkeypatch: pytest.MonkeyPatch) -> None:
    home = __import__(recode.Regrouped.__module__, fromlist=["PANEL"])
    monkeypatch.setattr(home, "PANEL", panel)
    for length, block in ((10, 5), (10, 4), (10, 10)):
        source = recode.open_kernel("regroup", [ArraySource(X)], (3, length, 4, block))
        expected = grouped(X, 3, length, 4, block)
        tiles = [source.read(at, min(at + 17, expected.size)) for at in range(0, expected.size, 17)]
        assert np.concatenate(tiles).tobytes() == expected.tobytes()


def test_every_kernel_is_here() -> None:
    mine = {kernel for kernel, *_ in KERNELS.values()}
    assert set(recode.KERNELS) == mine


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple),
    st.data(),
)
@settings(max_examples=80, deadline=None)
def test_the_scale_of_each_element(shape: tuple[int, ...], data: st.DataObject) -> None:
    axis, block = data.draw(st.integers(0, len(shape) - 1)), data.draw(st.integers(1, 6))
    parameters = tuple(-(-n // block) if d == axis else n for d, n in enumerate(shape))
    whole = np.repeat(np.arange(prod(parameters)).reshape(parameters), block, axis).take(np.arange(shape[axis]), axis=axis).reshape(-1)
    start = data.draw(st.integers(0, whole.size))
    got = recode.parameter_index(shape, axis, block, start, whole.size, vector=False)
    assert got.tolist() == whole[start:].tolist()
