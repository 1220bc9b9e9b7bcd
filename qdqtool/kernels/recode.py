"""Kernels that make one constant from others, any range at a time.

Each kernel is a function ``(sources, params) -> Source``; ``open_kernel`` finds it by the name an expression gives. Codes are
streamed, scales too when they are large.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.kernels import bits, moved, packed_rows, products, steps
from qdqtool.kernels.arithmetic import arithmetic
from qdqtool.kernels.cast import cast
from qdqtool.kernels.regrouped import PANEL, Regrouped
from qdqtool.kernels.sources import Array, Reshaped, Source, materialize, size
from qdqtool.kernels.transposed import Transposed
from qdqtool.kernels.whole import Whole


@dataclass(frozen=True, slots=True)
class Mapped:
    """Another source, element by element."""

    source: Source
    dtype: ElementType
    change: Callable[[Array], Array]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.source.shape

    def read(self, start: int, stop: int) -> Array:
        return self.change(self.source.read(start, stop))


@dataclass(frozen=True, slots=True)
class Shifted:
    """``int32(codes) - int32(zero point)``, wrapping as ONNX Runtime does; `place` is None or (axis, block)."""

    codes: Source
    zero_point: Source
    place: tuple[int, int] | None
    dtype: ElementType = dtypes.INT32

    @property
    def shape(self) -> tuple[int, ...]:
        return self.codes.shape

    def read(self, start: int, stop: int) -> Array:
        zero = materialize(self.zero_point).reshape(-1).astype(np.int32)
        codes = self.codes.read(start, stop).astype(np.int32)
        if self.place is not None:
            zero = zero[parameter_index(self.shape, *self.place, start, stop, vector=len(self.zero_point.shape) < 2 and self.place[1] == 1)]
        return np.subtract(codes, zero)


def parameter_index(shape: tuple[int, ...], axis: int, block: int, start: int, stop: int, *, vector: bool) -> Array:
    """Flat index into the scale of each element of a flat range; `vector` for 1-D scales along `axis`."""
    post = prod(shape[axis + 1 :])
    flat = np.arange(start, stop)
    along = (flat // post) % shape[axis]
    if vector:
        return along
    blocks = -(-shape[axis] // block)
    return (flat // (post * shape[axis]) * blocks + along // block) * post + flat % post


def _cast(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    (to,) = params
    return Mapped(sources[0], to, lambda a: a.astype(to.numpy))


def _onnx_cast(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    to, saturate = params
    return Mapped(sources[0], to, lambda a: cast(a, to, saturate=saturate))


def _reshape(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    return Reshaped(sources[0], params[0])


def _codes(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    return Mapped(sources[0], dtypes.UINT8, lambda a: a.view(np.uint8))


def _from_codes(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    (storage,) = params
    return Mapped(sources[0], storage, lambda a: a.view(storage.numpy))


def _times(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    exponent, to = params
    return Mapped(sources[0], to, lambda a: np.ldexp(a.astype(np.float64), exponent).astype(to.numpy))


def _subtract(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    return Shifted(sources[0], sources[1], params[0])


def _recentre(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    """Unsigned codes less half their range."""
    (signed,) = params
    return Mapped(sources[0], signed, lambda a: (a.astype(np.int32) + int(signed.low)).astype(signed.numpy))


def _regroup(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    pre, length, post, block = params
    if post == 1 and length % block == 0:
        return Reshaped(sources[0], (pre * (length // block), block))
    return Regrouped(sources[0], pre, length, post, block)


def _transpose(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    (perm,) = params
    source = sources[0]
    shape = tuple(source.shape[p] for p in perm)
    swap = _swap(perm) if size(source) > PANEL else None
    if swap is not None:
        pre, length, post = (prod(source.shape[a:b]) for a, b in pairwise((0, *swap, len(perm))))
        return Reshaped(Regrouped(source, pre, length, post, length), shape)
    return Transposed(source, perm)


def _swap(perm: tuple[int, ...]) -> tuple[int, int] | None:
    """Where the axes are cut when they stay in order but for the last two of three groups, which change places."""
    rank = len(perm)
    cuts = ((a, b) for a in range(rank) for b in range(a + 1, rank))
    return next((c for c in cuts if perm == (*range(c[0]), *range(c[1], rank), *range(*c))), None)


def _reblock(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    axis, old, new, count = params
    source = sources[0]
    shape = (*source.shape[:axis], count, *source.shape[axis + 1 :])
    return Whole(lambda: materialize(source).take(np.arange(count) * new // old, axis=axis), source.dtype, shape)


def _first(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    axes, shape = params
    source = sources[0]
    index = tuple(0 if d in axes else slice(None) for d in range(len(source.shape)))
    return Whole(lambda: np.asarray(materialize(source)[index]), source.dtype, shape)


def _window(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    axis, pieces = params
    source = sources[0]
    shape = tuple(sum(b - a for a, b in pieces) if d == axis else n for d, n in enumerate(source.shape))
    return Whole(lambda: _pieces(source, axis, pieces).reshape(shape), source.dtype, shape)


def _pieces(source: Source, axis: int, pieces: tuple[tuple[int, int], ...]) -> Array:
    """Index ranges along one axis, read range by range."""
    pre, length, post = prod(source.shape[:axis]), source.shape[axis], prod(source.shape[axis + 1 :])
    starts = (((p * length + a) * post, (p * length + b) * post) for p in range(pre) for a, b in pieces)
    return np.concatenate([source.read(start, stop) for start, stop in starts])


def _expand(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    (shape,) = params
    source = sources[0]
    return Whole(lambda: np.broadcast_to(materialize(source), shape), source.dtype, shape)


def _divide(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    (exponent,) = params
    return Mapped(sources[0], sources[0].dtype, lambda a: np.ldexp(a, -exponent))


def _arithmetic(sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    (op,) = params
    shape = np.broadcast_shapes(*(s.shape for s in sources))
    return Whole(lambda: arithmetic(op, *(materialize(s) for s in sources)), sources[0].dtype, shape)


KERNELS: dict[str, Callable[[Sequence[Source], tuple[Any, ...]], Source]] = {
    "cast": _cast,
    "onnx_cast": _onnx_cast,
    "reshape": _reshape,
    "codes": _codes,
    "from_codes": _from_codes,
    "times": _times,
    "subtract": _subtract,
    "recentre": _recentre,
    "regroup": _regroup,
    "transpose": _transpose,
    "reblock": _reblock,
    "first": _first,
    "expand": _expand,
    "window": _window,
    "divide": _divide,
    "dequantize": steps.dequantized,
    "quantize": steps.quantized,
    "gather": moved.gathered,
    "slice": moved.sliced,
    "concat": moved.joined,
    "arithmetic": _arithmetic,
    "unpack_rows": bits.unpack_rows,
    "unpack_columns": bits.unpack_columns,
    "pack_rows": packed_rows.pack_rows,
    "product": products.product,
}


def open_kernel(kernel: str, sources: Sequence[Source], params: tuple[Any, ...]) -> Source:
    """The source that `kernel` makes of `sources`."""
    return KERNELS[kernel](sources, params)
