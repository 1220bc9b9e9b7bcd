"""Steps with data for their operands, rich in codes, ties and extremes; what each must give comes from the scalar oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Expr, Runtime, Step, Stored, literal
from qdqtool.kernels.layout import parameter_shape, spread
from qdqtool.quantization import Blocked, ByScale, Granularity, Meaning, PerAxis, PerTensor
from tests.formats import bits_of, decode, encode
from tests.kernels.samples import as_type, codes_of, quotients, zero_points
from tests.oracle import oracle_dequantize, oracle_quantize

Array = np.ndarray[Any, np.dtype[Any]]
SCALES = (0.1, -0.25, 3e-5, 300.0, 1.0, 0.0078125, 0.7)
"""Seven, so that they never repeat along an axis as short as those of the tests."""


@dataclass(frozen=True, eq=False)
class Given:
    """A step and the arrays behind its leaves; `zero` is None without a zero point, `codes` holds x before any carrier."""

    step: Step
    codes: Array
    scale: Array
    zero: Array | None

    @property
    def arrays(self) -> Mapping[str, Array]:
        """By the name of a leaf; x in its carrier."""
        assert self.step.x.dtype is not None
        found = {"x": in_carrier(self.codes, self.step.x.dtype), "s": self.scale}
        return found if self.zero is None else {**found, "z": self.zero}

    def expected(self) -> Array:
        """Bit patterns of the result, in the step's type."""
        where = self.step.meaning.granularity
        axis, block = place(where if not isinstance(where, ByScale) else _shown(self.scale, where))
        if self.step.meaning.kind == "dequantize":
            return oracle_dequantize(
                self.codes, self.scale, self.zero, expressed=_sure(self.step.meaning.expressed), axis=axis, block=block
            )
        meaning, storage = self.step.meaning, _sure(self.step.meaning.storage)
        bits = oracle_quantize(
            *(self.codes, self.scale, self.zero),
            storage=storage,
            axis=axis,
            block=block,
            compute=_sure(meaning.compute),
            saturate=meaning.saturate,
        )
        return bits if self.step.dtype is storage else _recoded(bits, storage, _sure(self.step.dtype))


def _sure(dtype: ElementType | None) -> ElementType:
    assert dtype is not None
    return dtype


def _shown(scale: Array, where: ByScale) -> Granularity:
    return PerTensor() if scale.size == 1 else PerAxis(where.axis)


def _recoded(bits: Array, storage: ElementType, carrier: ElementType) -> Array:
    values = [decode(int(code), storage.name) for code in bits.reshape(-1)]
    return np.array([encode(v, carrier.name) for v in values], np.uint64).reshape(bits.shape)


def in_carrier(codes: Array, carrier: ElementType) -> Array:
    """The same values in another type."""
    if codes.dtype == carrier.numpy:
        return codes
    own = dtypes.of_numpy(codes.dtype).name
    values = [decode(int(code), own) for code in bits_of(codes).reshape(-1)]
    return np.array(values).astype(carrier.numpy).reshape(codes.shape)


def place(where: Granularity | None) -> tuple[int | None, int | None]:
    """Axis and block as kernels and the oracle take them."""
    match where:
        case PerAxis(axis):
            return axis, None
        case Blocked(axis, block):
            return axis, block
    return None, None


def dequantize(
    storage: ElementType,
    shape: tuple[int, ...] | None = None,
    where: Granularity = PerTensor(),  # noqa: B008
    *,
    expressed: ElementType = dtypes.FLOAT,
    scale: ElementType = dtypes.FLOAT,
    scales: Sequence[float] = SCALES,
    zero: bool | int = False,
    live: str = "",
    finite: bool = False,
    carrier: ElementType | None = None,
    codes: Sequence[float] | None = None,
) -> Given:
    """A dequantize of every code (of a small type); `live` names the run-time operands, `finite` leaves out NaN and infinity."""
    pool = codes_of(storage) if codes is None else np.array(codes).astype(storage.numpy)
    if finite:
        pool = pool[np.isfinite(pool.astype(np.float32))]
    shape = pool.shape if shape is None else shape
    data = np.resize(pool, shape)
    axis, block = place(where)
    parameters = parameter_shape(shape, axis, block)
    held = as_type(np.resize(scales, parameters), scale)
    zeros = _zeros(zero, storage, parameters)
    meaning = Meaning("dequantize", storage, expressed, scale, where)
    return _given(meaning, data, held, zeros, live, carrier or storage, expressed)


def quantize(
    storage: ElementType,
    shape: tuple[int, ...] | None = None,
    where: Granularity = PerTensor(),  # noqa: B008
    *,
    x: ElementType = dtypes.FLOAT,
    scale: ElementType = dtypes.FLOAT,
    scales: Sequence[float] = SCALES,
    compute: ElementType = dtypes.FLOAT,
    zero: bool | int = False,
    live: str = "x",
    saturate: bool = True,
    carrier: ElementType | None = None,
) -> Given:
    """A quantize of codes, ties and their neighbours, times the scales; an int as `zero` is every zero point."""
    pool = quotients(storage)
    if storage.integer or not storage.specials:
        pool = pool[~np.isnan(pool)]
    shape = pool.shape if shape is None else shape
    axis, block = place(where)
    parameters = parameter_shape(shape, axis, block)
    held = as_type(np.resize(scales, parameters), scale)
    with np.errstate(all="ignore"):
        steps = np.resize(pool, shape) * spread(held, shape, axis, block).astype(np.float32)
    data = as_type(np.where(np.isnan(steps) & ~np.isnan(np.resize(pool, shape)), 0, steps), x)
    zeros = _zeros(zero, storage, parameters)
    meaning = Meaning("quantize", storage, x, scale, where, compute, saturate)
    return _given(meaning, data, held, zeros, live, x, carrier or storage)


def _zeros(zero: bool | int, storage: ElementType, shape: tuple[int, ...]) -> Array | None:
    if zero is False:
        return None
    picks = zero_points(storage, max(prod(shape), 1)) if zero is True else np.full(1, zero).astype(storage.numpy)
    return np.resize(picks, shape)


def _given(meaning: Meaning, data: Array, scale: Array, zero: Array | None, live: str, carrier: ElementType, result: ElementType) -> Given:
    x = _leaf("x", carrier, data.shape, live)
    s = _leaf("s", dtypes.of_numpy(scale.dtype), scale.shape, live)
    z = None if zero is None else _leaf("z", dtypes.of_numpy(zero.dtype), zero.shape, live)
    return Given(Step(meaning, x, s, z, result, data.shape), data, scale, zero)


def _leaf(name: str, dtype: ElementType, shape: tuple[int, ...], live: str) -> Stored | Runtime:
    return Runtime(name, dtype, shape) if name in live else Stored((), name, dtype, shape)


def unshaped(given: Given, *names: str, rank: bool = True) -> Given:
    """The same with the sizes of run-time leaves unknown, and without `rank` even their rank."""

    def less(leaf: Expr) -> Expr:
        if not isinstance(leaf, Runtime) or leaf.name not in names:
            return leaf
        return replace(leaf, shape=tuple(None for _ in leaf.shape or ()) if rank else None)

    step = given.step
    x, scale, zero = less(step.x), less(step.scale), None if step.zero_point is None else less(step.zero_point)
    return replace(given, step=replace(step, x=x, scale=scale, zero_point=zero, shape=x.shape))


def vectors(given: Given) -> Given:
    """The same with per-tensor parameters of shape [1]."""
    step, zero = given.step, None if given.zero is None else given.zero.reshape(1)
    point = None if step.zero_point is None else replace(step.zero_point, shape=(1,))  # type: ignore[type-var]
    return replace(
        given, step=replace(step, scale=replace(step.scale, shape=(1,)), zero_point=point), scale=given.scale.reshape(1), zero=zero
    )


def unit(given: Given) -> Given:
    """The same with a scale of 1 written as a literal."""
    return replace(given, step=replace(given.step, scale=literal(1.0, dtypes.FLOAT)), scale=np.ones((), np.float32))


def meaning(given: Given, **changes: Any) -> Given:
    """The same data under another meaning."""
    return replace(given, step=replace(given.step, meaning=replace(given.step.meaning, **changes)))
