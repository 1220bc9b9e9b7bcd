"""The ways to say a pattern that the raisings find, and the best of those that the target says natively."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

from qdqtool.exactness import NO_BOUND, Exactness
from qdqtool.expressions import Const, Expr, Op, Runtime, Step, Stored, constants_of, nbytes, walk
from qdqtool.model.graph import Key, Place
from qdqtool.plan.choices import Choice
from qdqtool.plan.entries import Replace
from qdqtool.raising import all_raisings
from qdqtool.raising.pieces import is_marker

if TYPE_CHECKING:
    from qdqtool.plan.build import Builder

GROWTH = 2
"""Scales that are repeated for a common granularity may make the constants this many times as large, no more."""

ARITHMETIC = ("Div", "Mul")
"""Without one of these among its nodes a pattern is no step that was decomposed, and stays unless simplification was asked for."""

NARROWING = ("clipped", "narrow", "small-floats")
"""Raisings that change how codes are stored, for simplification only."""

_FEEDERS = ("Cast", "Identity")


@dataclass(slots=True)
class Tree:
    """A pattern as an expression; `origins` tells which node gives each operator or step in it, and what its value is called."""

    expr: Expr
    origins: dict[Expr, tuple[Place, Runtime]] = field(default_factory=dict)


class _Search:
    """All ways to say the expressions of one pattern; the context that raisings see."""

    def __init__(self, builder: Builder, tree: Tree) -> None:
        self._builder, self._tree = builder, tree
        simplify = builder.target.simplify
        self._raisings = [raising for raising in all_raisings() if simplify or raising.NAME not in NARROWING]
        self._ways: dict[Expr, dict[Expr, Exactness]] = {}

    def fact(self, question: str, const: Const, *params: Any) -> Any:
        return self._builder.facts.ask(question, const, *params)

    def original(self, expr: Expr) -> bool:
        return expr in self._tree.origins

    def free(self, const: Const) -> bool:
        """No result and nothing but dequantize steps and casts reads the tensors it is made of."""
        return all(self._free(e) for e in walk(const) if isinstance(e, Stored))

    def _free(self, const: Stored) -> bool:
        key = Key(const.scope, const.name)
        uses = self._builder.view.uses.get(key, ())
        return not self._builder.view.results.get(key) and all(
            (u.place in self._builder.lifted and u.slot == 0) or self._builder.view.node(u.place).op_type in _FEEDERS for u in uses
        )

    def ways(self, expr: Expr) -> dict[Expr, Exactness]:
        """Expressions of the same meaning, `expr` among them, with how close they are."""
        if expr not in self._ways:
            self._ways[expr] = {expr: Exactness.BIT_EQUAL}
            self._ways[expr] = dict(self._closed(expr))
        return self._ways[expr]

    def _closed(self, expr: Expr) -> Iterator[tuple[Expr, Exactness]]:
        found: dict[Expr, Exactness] = {}
        waiting = list(self._rebuilt(expr))
        while waiting:
            form, exactness = waiting.pop(0)
            if found.get(form, Exactness.APPROXIMATE) <= exactness:
                continue
            found[form] = exactness
            for raising in self._raisings:
                for said in raising.raised(form, self):
                    waiting += [(way, max(exactness, said.exactness, more)) for way, more in self.ways(said.expr).items()]
        yield from found.items()

    def _rebuilt(self, expr: Expr) -> Iterator[tuple[Expr, Exactness]]:
        """The expression around every way to say its operands."""
        if isinstance(expr, Step):
            yield from ((replace(expr, x=x), exactness) for x, exactness in self.ways(expr.x).items())
        elif isinstance(expr, Op):
            yield from self._operands(expr, 0, Exactness.BIT_EQUAL)
        else:
            yield expr, Exactness.BIT_EQUAL

    def _operands(self, op: Op, slot: int, exactness: Exactness) -> Iterator[tuple[Expr, Exactness]]:
        if slot == min(len(op.inputs), 2):
            yield op, exactness
            return
        part = op.inputs[slot]
        for way, more in self.ways(part).items() if part is not None else [(None, exactness)]:
            inputs = (*op.inputs[:slot], way, *op.inputs[slot + 1 :])
            yield from self._operands(replace(op, inputs=inputs), slot + 1, max(exactness, more))


def best(builder: Builder, tree: Tree, place: Place, output: str) -> Replace | None:
    """The native way that takes the place of most nodes, then the one with the smallest constants."""
    if not builder.target.simplify and not any(isinstance(e, Op) and e.op in ARITHMETIC for e in tree.origins):
        return None
    chooser, most = builder.chooser(place.scope), _most(builder, tree.expr)
    found: list[tuple[tuple[int, ...], Replace]] = []
    for way, exactness in _Search(builder, tree).ways(tree.expr).items():
        if way == tree.expr or not isinstance(way, Step) or any(isinstance(e, Step) and is_marker(e.scale) for e in walk(way)):
            continue
        kept: set[Place] = set()
        step = with_kept(way, tree, kept)
        choice = chooser.choose(step) if isinstance(step, Step) else None
        if isinstance(choice, Choice) and not choice.names and isinstance(step, Step) and _size(choice.expr)[0] <= most:
            claimed = {p for p, _ in tree.origins.values()} - below(tree, kept) - {place}
            entry = Replace(place, ((output, choice.expr),), str(step.meaning), ("simplify",), exactness, NO_BOUND, step)
            entry = replace(entry, claimed=tuple(sorted(claimed, key=lambda p: p.index)), before=tree.expr)
            found.append(((exactness, -len(claimed), *_size(choice.expr)), entry))
    return min(found, key=lambda f: f[0], default=(None, None))[1]


def _most(builder: Builder, expr: Expr) -> float:
    """Bytes that the constants may grow to: any number where nodes are what shall be few."""
    return inf if builder.target.prefer == "nodes" else GROWTH * _stored(expr)


def with_kept(expr: Expr, tree: Tree, kept: set[Place]) -> Expr:
    """The expression with everything that stands in the model unchanged read from there."""
    if expr in tree.origins:
        place, value = tree.origins[expr]
        kept.add(place)
        return value
    if isinstance(expr, Step):
        return replace(expr, x=with_kept(expr.x, tree, kept))
    if isinstance(expr, Op):
        return replace(expr, inputs=tuple(None if i is None else with_kept(i, tree, kept) for i in expr.inputs))
    return expr


def below(tree: Tree, kept: set[Place]) -> set[Place]:
    """The kept nodes and those of the pattern that they read."""
    found: set[Place] = set()
    for expr, (place, _) in tree.origins.items():
        if place in kept:
            found |= {tree.origins[e][0] for e in walk(expr) if e in tree.origins}
    return found


def _stored(expr: Expr) -> int:
    """Bytes of the model's constants in a pattern."""
    return sum(nbytes(e) for e in {e for e in walk(expr) if isinstance(e, Stored)})


def _size(expr: Expr) -> tuple[int, int]:
    """Bytes of constants, and nodes."""
    return sum(nbytes(c) for c in constants_of(expr)), len({e for e in walk(expr) if isinstance(e, Op)})
