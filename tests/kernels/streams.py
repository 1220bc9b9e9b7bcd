"""Random tensors with every granularity, as arrays and as packed storage, and the whole-array kernels as oracle for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import strategies as st

from qdqtool.dtypes import ElementType
from qdqtool.kernels import dequantized, moved, parameter, quantized, recode, rows, spread, steps, transposed
from qdqtool.kernels.dequantize import dequantize
from qdqtool.kernels.grid import blocks, scale_shape
from qdqtool.kernels.quantize import quantize
from qdqtool.kernels.sources import ArraySource, Reshaped, Source
from qdqtool.model import packing
from qdqtool.quantization import Blocked, Granularity, PerAxis, PerTensor, Tiles
from tests.kernels.samples import Array, codes_of, zero_points

SIZES = [
    (dequantized, "TILE"),
    (dequantized, "UNPACKED"),
    (dequantized, "PIECE"),
    (quantized, "TILE"),
    (moved, "TILE"),
    (transposed, "PANEL"),
    (moved, "NEAR"),
]
LENGTHS = [(parameter, "HELD"), (spread, "PERIOD"), (spread, "LONG"), (spread, "WIDE"), (rows, "WIDE")]


@dataclass(frozen=True)
class InStorage:
    """A tensor whose packed bytes can be read, as those of a file."""

    data: bytes
    dtype: ElementType
    shape: tuple[int, ...]

    def read(self, start: int, stop: int) -> Array:
        first, end, skip = packing.byte_range(self.dtype, start, stop)
        return packing.unpack(self.data[first:end], self.dtype, skip, stop - start)

    def read_storage(self, start: int, stop: int, out: Array) -> None:
        first, end, skip = packing.byte_range(self.dtype, start, stop)
        assert skip == 0
        out[:] = np.frombuffer(self.data, np.uint8, end - first, first)


def stored(array: Array, dtype: ElementType, *, packed: bool) -> Any:
    """`array` as it is, or in storage and under a shape of its own."""
    if not packed:
        return ArraySource(array)
    return Reshaped(InStorage(packing.pack(array, dtype), dtype, (array.size,)), array.shape)


@st.composite
def shapes(draw: st.DrawFn) -> tuple[int, ...]:
    return tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=4)))


@st.composite
def granularities(draw: st.DrawFn, shape: tuple[int, ...]) -> Granularity:
    axes = st.integers(-len(shape), len(shape) - 1)
    tiled = st.dictionaries(st.integers(0, len(shape) - 1), st.integers(1, 6)).map(lambda d: Tiles(tuple(sorted(d.items()))))
    return draw(st.just(PerTensor()) | axes.map(PerAxis) | st.builds(Blocked, axes, st.integers(1, 7)) | tiled)


@contextmanager
def small_parts(data: st.DataObject) -> Iterator[None]:
    """Tiles of a few elements, so that small tensors have many; tiles stay multiples of the packed groups."""
    with ExitStack() as stack:
        for module, name in SIZES:
            stack.enter_context(patch.object(module, name, 4 * data.draw(st.integers(1, 30), label=name)))
        for module, name in LENGTHS:
            stack.enter_context(patch.object(module, name, data.draw(st.sampled_from([0, 1, 3, 8, 50, 10**6]), label=name)))
        yield


def in_tiles(kernel: str, sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    """The kernel as it is for large tensors, whatever their size."""
    with patch.object(steps, "SMALL", 0):
        return recode.open_kernel(kernel, sources, params)


def random_codes(rng: np.random.Generator, shape: tuple[int, ...], storage: ElementType) -> Array:
    codes = codes_of(storage)
    return codes[rng.integers(0, codes.size, shape)]


def random_zeros(rng: np.random.Generator, shape: tuple[int, ...], storage: ElementType) -> Array:
    picks = zero_points(storage, 7)
    return np.asarray(picks[rng.integers(0, picks.size, shape)])


def laid(parameter: Array, shape: tuple[int, ...], granularity: Granularity) -> Array:
    """A parameter for each element, by repeating it along each axis."""
    lengths = blocks(shape, granularity)
    counts = tuple(-(-n // b) for n, b in zip(shape, lengths, strict=True))
    whole = parameter.reshape(counts)
    for axis, (n, block) in enumerate(zip(shape, lengths, strict=True)):
        whole = np.repeat(whole, block, axis)[(slice(None),) * axis + (slice(n),)]
    return whole.reshape(-1)


def plainly(q: Array, scale: Array, zero: Array | None, granularity: Granularity, expressed: ElementType) -> Array:
    """The flat result of the whole-array kernel, with a scale for each element."""
    parameters = [None if p is None else laid(p, q.shape, granularity) for p in (scale, zero)]
    return dequantize(q.reshape(-1), *parameters, expressed=expressed, axis=0, block=None)


def plain_codes(x: Array, scale: Array, zero: Array | None, granularity: Granularity, **how: Any) -> Array:
    """The same for quantizing."""
    parameters = [None if p is None else laid(p, x.shape, granularity) for p in (scale, zero)]
    return quantize(x.reshape(-1), *parameters, axis=0, block=None, **how)


def parameters_for(shape: tuple[int, ...], granularity: Granularity) -> tuple[int, ...]:
    return scale_shape(shape, granularity)


def bits(array: Array) -> bytes:
    """The bits of a flat array, all NaNs made alike: of two NaN operands either may be the one that numpy passes on."""
    nan = np.isnan(array.astype(np.float32)) if array.dtype.kind not in "iu" else np.zeros(array.shape, bool)
    return np.where(nan, 0, array.view(f"u{array.itemsize}")).tobytes() + nan.tobytes()
