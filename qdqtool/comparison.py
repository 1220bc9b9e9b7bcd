"""The record of a comparison: where two models, or two runtimes, part, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from qdqtool.check.compare import Comparison as Measured
from qdqtool.check.compare import Difference

Cause = Literal["rounding", "fusion", "known fault", "different"]
Verdict = Literal["equal", "rounding", "fusion", "known fault", "different", "not compared"]
ORDER: tuple[Verdict, ...] = ("equal", "rounding", "fusion", "known fault", "not compared", "different")
"""The gravest last."""


@dataclass(frozen=True, slots=True)
class Place:
    """Nodes that give another value than their counterparts for the same operands.

    Attributes
    ----------
    where, other : str
        The node that makes the value in the first and in the second model, in words.
    value, counterpart : str
        Names of the value in both.
    cause : str
        "rounding": one step at ties, or sums in another order. "fusion": the runtime computes joined nodes otherwise. "known fault":
        of the runtime. "different": the nodes say different things.
    reasons : tuple of str
        What is different, by name; empty when nothing could be named.
    difference : Difference
        Between the values, for the same operands.
    also : tuple of str
        Further nodes that part for the same reasons.
    """

    where: str
    other: str
    value: str
    counterpart: str
    cause: Cause
    reasons: tuple[str, ...]
    difference: Difference
    also: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        measured = {name: getattr(self.difference, name) for name in Difference.__dataclass_fields__}
        names = ("where", "other", "value", "counterpart", "cause")
        return {name: getattr(self, name) for name in names} | {
            "reasons": list(self.reasons),
            "also": list(self.also),
            "difference": measured,
        }


@dataclass(frozen=True, slots=True)
class Run:
    """The second model in one runtime, against the first in its own.

    Attributes
    ----------
    first, second : str
        The runtimes.
    verdict : str
        The gravest cause among `places`; "equal" when there are none, "not compared" when something does not run.
    outputs : tuple of check.compare.Comparison
        All outputs, bit for bit.
    places : tuple of Place
        Where they part, in the order of the first model, the gravest cause first. What only follows from them is not listed.
    following : int
        Values behind these places that differ as a consequence.
    compared : int
        Values at which both were cut apart.
    notes : tuple of str
        Whatever else is worth knowing.
    """

    first: str
    second: str
    verdict: Verdict
    outputs: tuple[Measured, ...] = ()
    places: tuple[Place, ...] = ()
    following: int = 0
    compared: int = 0
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "first": self.first,
            "second": self.second,
            "verdict": self.verdict,
            "places": [place.to_dict() for place in self.places],
            "following": self.following,
            "compared": self.compared,
            "outputs": [output.to_dict() for output in self.outputs],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """A finished comparison: one run for each runtime."""

    runs: tuple[Run, ...]

    @property
    def verdict(self) -> Verdict:
        """The gravest of all runs."""
        return gravest([run.verdict for run in self.runs])

    @property
    def first(self) -> Place | None:
        """The first place that gave the verdict; None when all is equal, or no place could be named."""
        return next((place for place in self.worst.places if place.cause == self.worst.verdict), None)

    @property
    def worst(self) -> Run:
        """The run of the gravest verdict."""
        return max(self.runs, key=lambda run: ORDER.index(run.verdict))

    @property
    def ok(self) -> bool:
        """Whether all is equal but for rounding."""
        return self.verdict in ("equal", "rounding")

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"verdict": self.verdict, "ok": self.ok, "runs": [run.to_dict() for run in self.runs]}


def gravest(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict of a whole."""
    return max(verdicts, key=ORDER.index, default="equal")
