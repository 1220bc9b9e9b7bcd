"""How close a rewrite stays to its original: four classes, strongest first, and a bound for the third."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Exactness(IntEnum):
    """Strongest first; a chain has the greatest value of its parts."""

    BIT_EQUAL = 0
    VALUE_EQUAL = 1
    ROUNDING = 2
    APPROXIMATE = 3

    def __str__(self) -> str:
        return _WORDS[self]


_WORDS = {
    Exactness.BIT_EQUAL: "bit-equal",
    Exactness.VALUE_EQUAL: "value-equal",
    Exactness.ROUNDING: "equal up to rounding",
    Exactness.APPROXIMATE: "approximate",
}


@dataclass(frozen=True, slots=True)
class Bound:
    """Largest difference a lowering admits: ulps of each element, share of the output's maximum, quantization steps.

    With `ties` the steps are for values that lie half way between two codes, or so near that float32 may round them either way.
    """

    ulps: float = 0.0
    of_maximum: float = 0.0
    steps: int = 0
    ties: bool = False

    def __add__(self, other: Bound) -> Bound:
        stepping = [bound.ties for bound in (self, other) if bound.steps]
        ties = bool(stepping) and all(stepping)
        return Bound(self.ulps + other.ulps, self.of_maximum + other.of_maximum, self.steps + other.steps, ties)

    def __bool__(self) -> bool:
        return bool(self.ulps or self.of_maximum or self.steps)

    def __str__(self) -> str:
        parts = [
            self.ulps and f"{self.ulps:g} ulps",
            self.of_maximum and f"{self.of_maximum:g} of the output's maximum",
            self.steps and f"{self.steps} step{'s' if self.steps > 1 else ''}{' at ties' if self.ties else ''}",
        ]
        return ", ".join(str(p) for p in parts if p) or "0"


NO_BOUND = Bound()
