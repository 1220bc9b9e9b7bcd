"""What legalizing comes to: a choice, or a rejection; and the order in which choices are preferred."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qdqtool.exactness import NO_BOUND, Bound, Exactness
from qdqtool.expressions import Expr

NEAREST = 3


@dataclass(frozen=True, slots=True, order=True)
class Cost:
    """The order of choice."""

    exactness: int
    strained: int
    domains: int
    size: int
    plain: bool
    work: int
    nodes: int
    steps: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A legal expression (operators only) with what it promises; `strained` counts warnings of the runtime's about its steps."""

    expr: Expr
    exactness: Exactness = Exactness.BIT_EQUAL
    bound: Bound = NO_BOUND
    names: tuple[str, ...] = ()
    strained: int = 0


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why nothing legal was found; `depth` counts the lowerings that had been applied."""

    reasons: tuple[str, ...]
    depth: int = 0


Outcome = Choice | Rejection


def joined(expr: Expr, parts: Sequence[Choice]) -> Choice:
    """An operator around legal operands."""
    bound = sum((p.bound for p in parts), NO_BOUND)
    names = tuple(n for p in parts for n in p.names)
    strained = sum(p.strained for p in parts)
    return Choice(expr, max((p.exactness for p in parts), default=Exactness.BIT_EQUAL), bound, names, strained)


def nearest(rejected: Sequence[Rejection], found: Sequence[Choice]) -> Rejection:
    """The rejection to show: why `found` are not allowed, else the reasons of the first and of the deepest attempt."""
    if found:
        best = min(found, key=lambda c: c.exactness)
        return Rejection((f"only an {best.exactness} form exists ({', '.join(best.names)})",), NEAREST)
    deepest = max(rejected, key=lambda r: r.depth)
    return Rejection(tuple(dict.fromkeys((*rejected[0].reasons, *deepest.reasons))), deepest.depth)
