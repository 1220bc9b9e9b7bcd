"""Gather, slice, concatenation and transposition by ranges, against numpy, and how much they read at once."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdqtool import dtypes
from qdqtool.kernels import moved, recode, transposed
from qdqtool.kernels.sources import ArraySource, Source, size
from qdqtool.kernels.transposed import Transposed
from tests.kernels.samples import Array
from tests.kernels.streams import shapes, small_parts


class Watched(ArraySource):
    """Notes the longest range that was asked for."""

    longest: ClassVar[list[int]] = []

    def read(self, start: int, stop: int) -> Array:
        self.longest.append(stop - start)
        return ArraySource.read(self, start, stop)


def numbered(shape: tuple[int, ...]) -> Array:
    return np.arange(np.prod(shape), dtype=np.int32).reshape(shape)


def agree(data: st.DataObject, source: Source, expected: Array) -> None:
    assert (source.shape, source.dtype.numpy) == (expected.shape, expected.dtype)
    flat = expected.reshape(-1)
    for _ in range(4):
        start = data.draw(st.integers(0, flat.size))
        stop = data.draw(st.integers(start, flat.size))
        assert source.read(start, stop).tolist() == flat[start:stop].tolist()
    assert source.read(0, size(source)).tolist() == flat.tolist()


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_transposition(data: st.DataObject) -> None:
    x = numbered(data.draw(shapes()))
    perm = tuple(data.draw(st.permutations(range(x.ndim))))
    with small_parts(data):
        agree(data, Transposed(ArraySource(x), perm), x.transpose(perm))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_slice(data: st.DataObject) -> None:
    x = numbered(data.draw(shapes()))
    parts = []
    for n in x.shape:
        start, step = data.draw(st.integers(0, n - 1)), data.draw(st.sampled_from([1, 1, 2, 3, -1, -2]))
        room = (n - 1 - start) // step if step > 0 else start // -step
        parts.append((start, step, data.draw(st.integers(0, room + 1))))
    picks = [start + step * np.arange(count) for start, step, count in parts]
    with small_parts(data):
        agree(data, recode.open_kernel("slice", [ArraySource(x)], (tuple(parts),)), x[np.ix_(*picks)])


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_gather(data: st.DataObject) -> None:
    x = numbered(data.draw(shapes()))
    axis = data.draw(st.integers(0, x.ndim - 1))
    indices = data.draw(st.lists(st.integers(-x.shape[axis], x.shape[axis] - 1), max_size=7))
    with small_parts(data):
        agree(data, recode.open_kernel("gather", [ArraySource(x)], (axis, tuple(indices))), x.take(indices, axis, mode="wrap"))
        given_ = ArraySource(np.array(indices, np.int64).reshape(1, -1))
        agree(data, recode.open_kernel("gather", [ArraySource(x), given_], (axis,)), x.take([indices], axis, mode="wrap"))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_concatenation(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    axis = data.draw(st.integers(0, len(shape) - 1))
    lengths = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=4))
    arrays = [numbered((*shape[:axis], n, *shape[axis + 1 :])) + 1000 * k for k, n in enumerate(lengths)]
    agree(data, recode.open_kernel("concat", [ArraySource(a) for a in arrays], (axis,)), np.concatenate(arrays, axis))


LARGE: dict[str, tuple[str, tuple[int, ...], tuple[Any, ...]]] = {
    "rows far apart": ("gather", (1 << 12, 1 << 11), (0, tuple(range(0, 1 << 12, 97)))),
    "scattered elements": ("slice", (1 << 12, 1 << 11), (((0, 1, 1 << 12), (5, 700, 3)),)),
    "three axes": ("transpose", (64, 512, 256), ((2, 1, 0),)),
    "the middle first": ("transpose", (64, 512, 256), ((1, 0, 2),)),
}


@pytest.mark.parametrize("name", LARGE)
def test_no_read_is_as_long_as_the_tensor(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, shape, params = LARGE[name]
    monkeypatch.setattr(transposed, "PANEL", 1 << 22)
    monkeypatch.setattr(moved, "FAR", 1 << 20)
    x = np.random.default_rng(0).integers(0, 99, shape).astype(np.int8)
    Watched.longest.clear()
    source = recode.open_kernel(kernel, [Watched(x)], params)
    if kernel == "transpose":
        source, expected = Transposed(Watched(x), params[0]), x.transpose(params[0])
    elif kernel == "gather":
        expected = x[list(params[1])]
    else:
        expected = x[:, 5 : 5 + 3 * 700 : 700]
    step = 1 << 18
    pieces = [source.read(at, min(at + step, size(source))) for at in range(0, size(source), step)]
    assert np.concatenate(pieces).tobytes() == np.ascontiguousarray(expected).tobytes()
    assert max(Watched.longest) <= 1 << 22
    assert source.dtype is dtypes.INT8
