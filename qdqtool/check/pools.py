"""What stimuli are made of: codes, ties, extremes, and conversions that keep a value."""

from __future__ import annotations

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.kernels.cast import cast
from qdqtool.kernels.sources import Array

SCALES = np.array([0.0123, 0.5, 1.0, 3.0, 1e-3, 0.1, 117.3, -0.25, 2.0**-10, 1e-40, 2.0**-126, 3e-5, 6e4, 1e20, 3e38, 1.1754943e-38])
EXTREMES = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30, -1e30, 3.4e38, -3.4e38, 1e-45, -1e-45, 1e-38, 65504.0, -65504.0, 2.0**31, -(2.0**31)]
)


def codes(dtype: ElementType, carrier: ElementType, no_nan: bool) -> Array:
    """All codes of 8 bits or fewer that the carrier can hold; else both ends, the middle, and a spread over the range."""
    if dtype.bits <= 8:
        every = np.arange(1 << dtype.bits).astype(np.uint8).view(dtype.numpy)
        if dtype.integer:
            return every
        reals = every.astype(np.float32)
        drop = np.isnan(reals) & (no_nan or not carrier.specials)
        if carrier.integer:
            drop |= (reals == 0) & np.signbit(reals)
        kept: Array = every[~drop]
        return kept
    low, high = int(dtype.low), int(dtype.high)
    ends = [low, low + 1, high - 1, high, 0, 1]
    inner = np.linspace(low, high, 4001, dtype=np.float64)[1:-1]
    near = np.arange(-128, 128) if low < 0 else np.arange(256)
    return np.unique(np.concatenate([np.array(ends, object), inner.astype(np.int64), near])).astype(dtype.numpy)


def half_steps(storage: ElementType) -> Array:
    """In units of one step: for integers all ties and codes; for small floats the middle between neighbours too."""
    if storage.small_float:
        reals = np.arange(1 << storage.bits).astype(np.uint8).view(storage.numpy).astype(np.float64)
        finite = np.unique(reals[np.isfinite(reals)])
        beyond = finite[-1] * np.array([1.03, 1.0625, 1.125, 1.5, 2, -1.03, -1.0625, -1.125, -1.5, -2])
        return np.concatenate([finite, (finite[1:] + finite[:-1]) / 2, beyond, [-0.0]])
    low, high = storage.low - 3, storage.high + 3
    if storage.bits <= 8:
        return np.arange(low, high + 0.5, 0.5)
    ends = np.arange(0, 40, 0.5)
    return np.concatenate([low + ends, high - ends, ends - 20, np.rint(np.linspace(low, high, 2000)) + 0.5])


def scales(dtype: ElementType) -> Array:
    """Scales of a type, subnormal and huge ones too; those it cannot hold are left out."""
    held = typed(SCALES, dtype)
    kept: Array = held[np.isfinite(held) & (held != 0)]
    return kept


def ordinary_scales(dtype: ElementType) -> Array:
    """Those whose products neither overflow nor vanish."""
    held = scales(dtype)
    return np.asarray(held[(held > 1e-4) & (held < 10)])


def typed(values: Array, dtype: ElementType) -> Array:
    """Real values rounded to a type."""
    with np.errstate(all="ignore"):
        return np.asarray(cast(values.astype(np.float32), dtype) if dtype.bits < 64 else values.astype(dtype.numpy))


def nudged(values: Array, dtype: ElementType, rng: np.random.Generator) -> Array:
    """A third of the values one ulp up or down: just beside a tie."""
    if dtype.bits not in (16, 32, 64):
        return values
    bits = values.view({16: np.int16, 32: np.int32, 64: np.int64}[dtype.bits])
    regular = np.isfinite(values) & (np.abs(values.astype(np.float64)) > 1e-6) & (np.abs(values.astype(np.float64)) < 6e4)
    change = rng.choice(np.array([0, 0, 0, 0, 1, -1]), values.shape).astype(bits.dtype)
    nudged: Array = (bits + np.where(regular, change, 0).astype(bits.dtype)).view(values.dtype)
    return nudged


def converted(values: Array, dtype: ElementType) -> Array:
    """The same values in another type that can hold them."""
    if values.dtype == dtype.numpy or dtype.kind == "string":
        return values
    own = dtypes.of_numpy(values.dtype)
    wide = values.astype(np.int64) if own.integer else values.astype(np.float64)
    return wide.astype(np.float32).astype(dtype.numpy) if dtype.bits < 32 and not dtype.integer else wide.astype(dtype.numpy)
