"""How two lists of outputs differ: not at all, in the sign of zeros, within a bound, or in value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from qdqtool import dtypes as D
from qdqtool.exactness import Bound
from tests.formats import bits_of

Array = np.ndarray[Any, np.dtype[Any]]


def compare(expected: Sequence[Array], actual: Sequence[Array]) -> str:
    """Empty when equal bit for bit (any NaN equals any other); "value" when only signs of zero differ; else what differs."""
    if len(expected) != len(actual):
        return f"{len(actual)} outputs instead of {len(expected)}"
    found = [_one(e, a) for e, a in zip(expected, actual, strict=True)]
    return next((f for f in found if f not in ("", "value")), max(found, default=""))


def _one(expected: Array, actual: Array) -> str:
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return f"{actual.dtype}{list(actual.shape)} instead of {expected.dtype}{list(expected.shape)}"
    if expected.dtype == np.bool_:
        return "" if np.array_equal(expected, actual) else "bools differ"
    e, a = values(expected), values(actual)
    unequal = (e != a) & ~((e != e) & (a != a))
    if unequal.any():
        i = int(np.flatnonzero(unequal.reshape(-1))[0])
        return f"{int(unequal.sum())} of {unequal.size} differ, first at {i}: {a.reshape(-1)[i]!r} instead of {e.reshape(-1)[i]!r}"
    zero_signs = (bits_of(expected) != bits_of(actual)) & (e == e)
    return "value" if zero_signs.any() else ""


def values(array: Array) -> Array:
    """As float64, or int64 for integers."""
    kind = D.of_numpy(array.dtype)
    return array.astype(np.int64 if kind.integer else np.float32 if kind.bits <= 16 else np.float64).astype(
        np.int64 if kind.integer else np.float64
    )


def within(expected: Sequence[Array], actual: Sequence[Array], bound: Bound) -> bool:
    """Is every element inside the bound? Integers count in steps, floats in ulps or shares of the output's maximum."""
    return len(expected) == len(actual) and all(_inside(e, a, bound) for e, a in zip(expected, actual, strict=True))


def _inside(expected: Array, actual: Array, bound: Bound) -> bool:
    if expected.dtype != actual.dtype or expected.shape != actual.shape or expected.dtype == np.bool_:
        return _one(expected, actual) == ""
    e, a = values(expected), values(actual)
    if D.of_numpy(expected.dtype).integer:
        return bool((np.abs(e - a) <= bound.steps).all())
    same = (e == a) | ((e != e) & (a != a))
    finite = np.abs(e[np.isfinite(e)])
    ulp = np.spacing(np.abs(e).astype(np.float32)).astype(np.float64) * 2.0 ** (23 - _mantissa(expected))
    room = np.maximum(bound.ulps * ulp, bound.of_maximum * (finite.max() if finite.size else 0.0))
    return bool((same | (np.abs(e - a) <= room)).all())


def _mantissa(array: Array) -> int:
    return {D.FLOAT16: 10, D.BFLOAT16: 7}.get(D.of_numpy(array.dtype), 23)
