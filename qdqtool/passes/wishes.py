"""What a fold is asked to do, and what it finds to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from qdqtool import expressions
from qdqtool.exactness import NO_BOUND, Bound, Exactness
from qdqtool.expressions import Computed, Const, Expr, Runtime, Step, Stored, children, is_const, nbytes
from qdqtool.model.graph import Place
from qdqtool.passes import growth
from qdqtool.passes.moved_steps import parameters
from qdqtool.passes.selection import Selection

Kind = Literal["quantize", "pairs", "scales", "weights", "bias", "move", "collapse"]

GROWING: frozenset[Kind] = frozenset({"weights", "bias"})
"""Folds that may make a model larger, since nobody asks for them otherwise."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """The kinds of folds that are asked for, and their limits; see ``api.fold``."""

    kinds: frozenset[Kind] = frozenset({"quantize", "pairs", "scales"})
    selection: Selection = field(default_factory=Selection)
    max_growth: int | str | None = None
    approximate: bool = False
    tidy: bool = False

    @property
    def limits(self) -> tuple[str, ...]:
        """The options that may have held weights back, where those were asked for."""
        if "weights" not in self.kinds:
            return ()
        given = {"--only": self.selection.only, "--skip": self.selection.skip, "--max-growth": self.max_growth is not None}
        return tuple(option for option, on in given.items() if on)


def wishes(
    kinds: Mapping[Kind, bool], selection: Selection, max_growth: int | str | None = None, *, approximate: bool = False, tidy: bool = False
) -> Wishes:
    """The wishes of kinds that are on; Usage for an amount of growth that is none."""
    growth.limit(max_growth, 0)
    return Wishes(frozenset(kind for kind, on in kinds.items() if on), selection, max_growth, approximate, tidy)


@dataclass(frozen=True, slots=True)
class Found:
    """A fold at one place: its result is the value `by`, or what `step` gives; `reads` are the stored constants behind the old result."""

    place: Place
    kind: Kind
    what: str
    by: Const | Runtime | None
    step: Step | None
    reads: tuple[Stored, ...]
    nodes: tuple[Place, ...]
    exactness: Exactness = Exactness.BIT_EQUAL
    bound: Bound = NO_BOUND

    @property
    def parts(self) -> tuple[Expr | None, ...]:
        """What the result is, or what its step reads."""
        return (self.by,) if self.step is None else (self.step.x, self.step.scale, self.step.zero_point)

    @property
    def consts(self) -> tuple[Const, ...]:
        """The constants among its parts."""
        return tuple(part for part in self.parts if is_const(part))

    @property
    def new(self) -> tuple[Const, ...]:
        """Those of them that the model does not hold yet."""
        return tuple(c for c in self.consts if isinstance(c, Computed | expressions.Literal))

    @property
    def bytes(self) -> tuple[int, int]:
        """Of the constants before and after."""
        return sum(map(nbytes, self.reads)), sum(map(nbytes, self.consts))


def stored(expr: Expr) -> tuple[Stored, ...]:
    """The constants of the model that an expression is made of, each once."""
    found: dict[Stored, None] = {}
    waiting = [expr]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Stored):
            found[part] = None
        else:
            waiting += reversed(part.args if isinstance(part, Computed) else list(children(part)))
    return tuple(found)


def behind(step: Step) -> tuple[Stored, ...]:
    """The same for what a step reads."""
    leaves = (c for c in (step.x, *parameters(step)) if is_const(c))
    return tuple(dict.fromkeys(s for leaf in leaves for s in stored(leaf)))
