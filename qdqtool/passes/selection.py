"""Which places a pass may touch: the patterns of ``--only`` and ``--skip``.

A pattern is a list of conditions joined by commas, all of which must hold: ``name:GLOB`` (the node, a value it reads or gives),
``op:GLOB`` (an operator that reads the result), ``type:GLOB`` (storage type of the codes) and ``size:>1MB`` (bytes of the constant
that is read). A bare GLOB is a name, also with a colon and a number
at its end, as TensorFlow writes names of values.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from qdqtool.errors import Usage

UNITS = {"": 1, "B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}
HINT = "name:GLOB, op:GLOB, type:GLOB or size:>1MB, joined by commas"

_KEYS = ("name", "op", "type", "size")
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}


@dataclass(frozen=True, slots=True)
class Traits:
    """What patterns ask about one place."""

    names: tuple[str, ...]
    readers: tuple[str, ...]
    storage: str
    nbytes: int


Condition = Callable[[Traits], bool]


@dataclass(frozen=True, slots=True)
class Pattern:
    """The conditions of a pattern, which must all hold, and how it was written."""

    text: str
    conditions: tuple[Condition, ...]

    def fits(self, traits: Traits) -> bool:
        return all(condition(traits) for condition in self.conditions)


@dataclass(frozen=True, slots=True)
class Selection:
    """Places that match a pattern of `only`, if there are any, and none of `skip`."""

    only: tuple[Pattern, ...] = ()
    skip: tuple[Pattern, ...] = ()

    @property
    def everything(self) -> bool:
        return not (self.only or self.skip)

    def takes(self, traits: Traits) -> bool:
        return (not self.only or any(p.fits(traits) for p in self.only)) and not any(p.fits(traits) for p in self.skip)

    def fitting(self, traits: Traits) -> set[Pattern]:
        """The patterns that fit a place."""
        return {p for p in (*self.only, *self.skip) if p.fits(traits)}

    def remarks(self, fitted: Container[Pattern]) -> list[str]:
        """What to say of patterns that fit no place."""
        told = [(p, "--only") for p in self.only] + [(p, "--skip") for p in self.skip]
        return [f"{option} {p.text} fits nothing that is to be folded" for p, option in told if p not in fitted]


def selection(only: Sequence[str] = (), skip: Sequence[str] = ()) -> Selection:
    """The selection of two lists of patterns; Usage for one that is none."""
    return Selection(tuple(map(pattern, only)), tuple(map(pattern, skip)))


def pattern(text: str) -> Pattern:
    """A pattern from its text."""
    return Pattern(text, tuple(_condition(part.strip(), text) for part in text.split(",")))


def nbytes(text: str) -> int | None:
    """A number of bytes from ``500``, ``1.5MB`` or ``64KiB``; None when it is none."""
    found = re.fullmatch(r"(\d{1,18}(?:\.\d+)?)\s*([A-Za-z]*)", text.strip())
    if found is None or found[2].upper() not in UNITS:
        return None
    return int(float(found[1]) * UNITS[found[2].upper()])


def _condition(text: str, whole: str) -> Condition:
    key, colon, value = text.partition(":")
    if not (colon and key in _KEYS):
        if re.fullmatch(r"[a-z]+", key) and colon and not value.isdecimal():
            raise Usage("fold-pattern", f"'{whole}' has an unknown condition '{key}'", hint=f"{HINT}; for a name with a colon name:{text}")
        key, value = "name", text
    if not value:
        raise Usage("fold-pattern", f"'{whole}' selects nothing", hint=HINT)
    match key:
        case "name":
            return lambda traits: any(fnmatchcase(name, value) for name in traits.names)
        case "op":
            return lambda traits: any(fnmatchcase(name, value) for name in traits.readers)
        case "type":
            return lambda traits: fnmatchcase(traits.storage, value)
    return _size(value, whole)


def _size(text: str, whole: str) -> Condition:
    sign = next((sign for sign in _COMPARISONS if text.startswith(sign)), "")
    limit = nbytes(text[len(sign) :])
    if not sign or limit is None:
        raise Usage("fold-pattern", f"'{whole}' has no size to compare with", hint="for example size:>1MB or size:<=4096")
    compare = _COMPARISONS[sign]
    return lambda traits: compare(traits.nbytes, limit)
