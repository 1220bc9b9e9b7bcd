"""Questions about constants, answered by one streaming pass each and remembered: the only reading a plan does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import gcd, prod
from typing import Any

import numpy as np

from qdqtool.dtypes import ElementType
from qdqtool.expressions import Computed, Const, Literal, Stored
from qdqtool.kernels import codes, scales
from qdqtool.kernels.sources import TILE, Array, ArraySource, Source, materialize, size, tiles


@dataclass(frozen=True, slots=True)
class FloatCodes:
    """What the codes of a small-float constant are: all finite?, any -0?, and the least k and greatest n of ``n * 2**-k``."""

    finite: bool
    negative_zero: bool
    exponent: int
    largest_integer: int


class Facts:
    """Answers for one model; `open_stored` reads a constant of it."""

    def __init__(self, open_stored: Callable[[Stored], Source]) -> None:
        self._open_stored = open_stored
        self._answers: dict[tuple[Any, ...], Any] = {}

    def source(self, const: Const) -> Source:
        """The constant as flat ranges."""
        match const:
            case Stored():
                return self._open_stored(const)
            case Literal():
                return ArraySource(const.array)
            case Computed():
                from qdqtool.kernels import recode  # all kernels, which a linter rarely needs

                return recode.open_kernel(const.kernel, [self.source(a) for a in const.args], const.params)

    def ask(self, question: str, const: Const, *params: Any) -> Any:
        """The answer to one of `QUESTIONS`."""
        key = (question, const, params)
        found = self._answers.get(key, self)  # one look, since constants take long to hash
        if found is self:
            found = self._answers[key] = QUESTIONS[question](self.source(const), *params)
        return found


def equal_along(source: Source, axis: int) -> bool:
    """All elements along `axis` have the same bits."""
    return not any(places.size for places in _changes(source, axis))


def _changes(source: Source, axis: int) -> Iterator[Array]:
    """The indices along `axis` at which some element has other bits than the one before it, tile by tile."""
    length, post, total = source.shape[axis], prod(source.shape[axis + 1 :]), size(source)
    bits = np.dtype(f"u{source.dtype.numpy.itemsize}")
    for start in range(post, total, TILE):
        stop = min(start + TILE, total)
        before, here = source.read(start - post, stop - post).view(bits), source.read(start, stop).view(bits)
        along = np.unique((np.flatnonzero(here != before) + start) // post % length)
        yield along[along > 0]


def float_codes(source: Source) -> FloatCodes:
    """Which codes of a type of 8 bits or fewer occur, summed up."""
    seen = np.zeros(256, bool)
    for tile in tiles(source):
        seen |= np.bincount(tile.view(np.uint8), minlength=256).astype(bool)
    values = np.flatnonzero(seen).astype(np.uint8).view(source.dtype.numpy).astype(np.float64)
    finite = bool(np.isfinite(values).all())
    negative_zero = bool(((values == 0) & np.signbit(values)).any())
    numbers = [abs(float(v)) for v in values if np.isfinite(v) and v != 0]
    exponent = max([0, *(_fraction_bits(v) for v in numbers)])
    return FloatCodes(finite, negative_zero, exponent, int(max([0.0, *numbers]) * 2**exponent))


def _fraction_bits(value: float) -> int:
    """The least k for which ``value * 2**k`` is an integer."""
    numerator, denominator = value.as_integer_ratio()
    return denominator.bit_length() - 1 if numerator % 2 or denominator > 1 else 0


def divides(source: Source, exponent: int) -> bool:
    """``scale * 2**-exponent`` is exact in float32 for every (finite) scale."""
    for tile in tiles(source):
        smaller = np.ldexp(tile, -exponent)
        if not (np.ldexp(smaller, exponent) == tile).all():
            return False
    return True


def value_range(source: Source) -> tuple[float, float]:
    """Least and greatest element; (0, 0) of none."""
    low, high = float("inf"), float("-inf")
    for tile in tiles(source):
        wide = tile.astype(np.float64)
        low, high = min(low, float(wide.min())), max(high, float(wide.max()))
    return (low, high) if low <= high else (0.0, 0.0)


def whole(source: Source) -> bool:
    """All elements are finite integers."""
    return all(bool((np.isfinite(w) & (w == np.rint(w))).all()) for w in (tile.astype(np.float64) for tile in tiles(source)))


def numbers(source: Source) -> Array:
    """The elements of a constant of few elements, in order, as float64."""
    return materialize(source).reshape(-1).astype(np.float64)


def among(source: Source, allowed: tuple[float, ...]) -> bool:
    """Every element is one of these numbers."""
    return all(bool(np.isin(tile.astype(np.float64), allowed).all()) for tile in tiles(source))


def held_in(source: Source, dtype: ElementType) -> bool:
    """A narrower float type holds every element exactly."""
    return all(bool((tile.astype(dtype.numpy).astype(tile.dtype) == tile).all()) for tile in tiles(source))


def values_of(source: Source, storage: ElementType) -> bool:
    """The elements are the values of the codes 0, 1, 2 ... of a small-float type, bit for bit but for NaNs."""
    values = np.arange(1 << storage.bits, dtype=np.uint8).view(storage.numpy).astype(np.float32)
    table = materialize(source)
    same = (table.view(np.uint32) == values.view(np.uint32)) | (np.isnan(table) & np.isnan(values))
    return bool(same.all())


def period(source: Source, axis: int) -> int:
    """The greatest n such that elements along `axis` change only at multiples of n; 0 when they never change."""
    return gcd(*(int(place) for places in _changes(source, axis) for place in places))


def small_float_exponent(source: Source, storage: ElementType) -> int | None:
    """The least k for which all ``n * 2**-k`` of an integer tensor are values of `storage`; None when there is none."""
    largest = max(abs(v) for v in value_range(source))
    k = next(k for k in range(64) if largest <= storage.high * 2.0**k)
    for tile in tiles(source):
        values = np.ldexp(tile.astype(np.float64), -k)
        if not (values.astype(storage.numpy).astype(np.float64) == values).all():
            return None
    return k


def nonzero(source: Source) -> int:
    """How many elements are not 0."""
    return sum(int(np.count_nonzero(tile)) for tile in tiles(source))


QUESTIONS: dict[str, Callable[..., Any]] = {
    "equal_along": equal_along,
    "float_codes": float_codes,
    "divides": divides,
    "value_range": value_range,
    "whole": whole,
    "among": among,
    "held_in": held_in,
    "values_of": values_of,
    "period": period,
    "small_float_exponent": small_float_exponent,
    "nonzero": nonzero,
    "scales": scales.scales,
    "codes": codes.codes,
    "numbers": numbers,
}
