"""Steps with equal scales told once: along an axis, over the tensor, or for larger blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from qdqtool.expressions import Const, Expr, Step, is_const
from qdqtool.lowerings import collapse
from qdqtool.plan.facts import Facts
from qdqtool.raising import coarsen


class Coarse:
    """The coarsest form of each step, worked out once; without `wanted` each step stays as it is."""

    def __init__(self, facts: Facts, *, wanted: bool) -> None:
        self._questions, self._wanted = _Questions(facts), wanted
        self._known: dict[Step, Step] = {}

    def __call__(self, step: Step) -> Step:
        if not self._wanted:
            return step
        if step not in self._known:
            self._known[step] = next((s for s in self._forms(step) if isinstance(s, Step)), step)
        return self._known[step]

    def _forms(self, step: Step) -> Iterator[Expr]:
        if all(is_const(p) for p in (step.scale, step.zero_point) if p is not None):
            yield from (said.expr for said in collapse.say(step, self._questions))
            yield from (said.expr for said in coarsen.raised(step, self._questions))


@dataclass(frozen=True, slots=True)
class _Questions:
    """What a lowering and a raising may ask."""

    facts: Facts
    opset: int = 0
    bound: bool = False
    bias: bool = False

    def fact(self, question: str, const: Const, *params: Any) -> Any:
        return self.facts.ask(question, const, *params)

    def original(self, expr: Expr) -> bool:
        return False

    def free(self, const: Const) -> bool:
        return False
