"""Two arrays that should say the same: how far apart they are, and whether the promised class allows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from qdqtool.check.numbers import is_float, maximum, nan, spacing, wide
from qdqtool.exactness import Bound, Exactness
from qdqtool.kernels.sources import Array

Verdict = Literal["equal", "within bound", "different", "not checked"]

_NO_BOUND = Bound()
# Real values one step apart are each rounded: of 65535 steps by up to 0.4 % of one.
_SLACK = 1.01


@dataclass(frozen=True, slots=True)
class Difference:
    """`count` of `elements` differ; the greatest difference as such, in ulps, and as a share of the output's maximum."""

    elements: int = 0
    count: int = 0
    greatest: float = 0.0
    ulps: float = 0.0
    of_maximum: float = 0.0
    example: str = ""

    def __str__(self) -> str:
        if not self.count:
            return f"{self.elements} value{'' if self.elements == 1 else 's'} equal"
        size = f"at most {self.greatest:.3g}, {self.ulps:.3g} ulps, {self.of_maximum:.2g} of the output's maximum"
        return f"{self.count} of {self.elements} values differ ({size}); {self.example}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One output or one step, before and after; `difference` is None where there was nothing to measure, and `reason` says why.

    `value` is the name of the value in the main graph, and empty for a step.
    """

    where: str
    verdict: Verdict
    difference: Difference | None = None
    judge: str = ""
    reason: str = ""
    value: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.verdict}" + (f", {self.reason or self.difference}" if self.reason or self.difference else "")

    def to_dict(self) -> dict[str, Any]:
        measured = self.difference
        numbers = {} if measured is None else {name: getattr(measured, name) for name in Difference.__dataclass_fields__}
        return {"where": self.where, "verdict": self.verdict, "judge": self.judge, "reason": self.reason, **numbers}


def compare(
    before: Array,
    after: Array,
    *,
    exactness: Exactness = Exactness.BIT_EQUAL,
    bound: Bound | None = None,
    step: float | Array = 1.0,
    counted: Array | None = None,
) -> tuple[Verdict, Difference]:
    """Judge `after` against `before`.

    Parameters
    ----------
    before, after : ndarray of one shape
        Of the same type, or of two types that carry the same values.
    exactness : Exactness
        BIT_EQUAL tells -0 from +0, the others do not; any NaN equals any other.
    bound : Bound, optional
        For ROUNDING and weaker: what may add up to the difference of an element.
    step : float or ndarray
        Value of one quantization step, for `bound.steps`.
    counted : ndarray of bool, optional
        False where the spec leaves the result open.

    Returns
    -------
    tuple of Verdict and Difference
    """
    if before.shape != after.shape:
        return "different", Difference(before.size, before.size, np.inf, np.inf, np.inf, f"shape {before.shape} became {after.shape}")
    differs = _differs(before, after, exactness)
    if counted is not None:
        differs &= counted
    if not differs.any():
        return "equal", Difference(before.size)
    measured = _measure(before, after, differs)
    if exactness < Exactness.ROUNDING or before.dtype == np.dtype(object):
        return "different", measured
    allowed = _allowed(before, bound or _NO_BOUND, step)
    with np.errstate(all="ignore"):
        within = np.abs(wide(before) - wide(after)) <= allowed
    return ("within bound" if within[differs].all() else "different"), measured


def _differs(before: Array, after: Array, exactness: Exactness) -> Array:
    """True where the two differ; NaN equals NaN."""
    if before.dtype == np.dtype(object) or before.dtype.kind in "USOb":
        return np.asarray(before != after)
    if before.dtype != after.dtype:
        before, after = wide(before), wide(after)
    with np.errstate(all="ignore"):
        unequal = np.asarray(before != after) & ~(nan(before) & nan(after))
    if exactness is Exactness.BIT_EQUAL and is_float(before):
        unequal |= (np.signbit(before) != np.signbit(after)) & np.asarray(before == 0)
    return unequal


def _measure(before: Array, after: Array, differs: Array) -> Difference:
    place = tuple(int(i) for i in np.argwhere(differs)[0])
    example = f"first at {list(place)}: {before[place]} became {after[place]}"
    if before.dtype.kind in "USOb":
        return Difference(before.size, int(differs.sum()), example=example)
    old, new = wide(before), wide(after)
    with np.errstate(all="ignore"):
        gap = np.where(differs, np.abs(old - new), 0)
        gap = np.where(np.isnan(gap), np.inf, gap).astype(np.float64)
        ulps = float((gap / spacing(before))[differs].max())
    greatest, top = float(gap.max()), maximum(old)
    return Difference(before.size, int(differs.sum()), greatest, ulps, greatest / top if top else (np.inf if greatest else 0.0), example)


def _allowed(before: Array, bound: Bound, step: float | Array) -> Array:
    """How far each element may move: the parts of a bound add up."""
    return bound.ulps * spacing(before) + bound.of_maximum * maximum(wide(before)) + bound.steps * np.abs(step) * _SLACK


_ORDER: tuple[Verdict, ...] = ("not checked", "equal", "within bound", "different")


def weakest(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of a whole: one difference outweighs all; what was not checked counts only when nothing was."""
    return max(verdicts, key=_ORDER.index, default="not checked")


def worst(results: Sequence[tuple[Verdict, Difference]]) -> tuple[Verdict, Difference]:
    """Several runs as one."""
    differences = [difference for _, difference in results]
    total = Difference(
        sum(d.elements for d in differences),
        sum(d.count for d in differences),
        max((d.greatest for d in differences), default=0.0),
        max((d.ulps for d in differences), default=0.0),
        max((d.of_maximum for d in differences), default=0.0),
        next((d.example for d in differences if d.example), ""),
    )
    return weakest(verdict for verdict, _ in results), total
