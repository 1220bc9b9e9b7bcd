"""Legalizing many steps: those that differ only in names share one *form*, which is decided once and whose slots are filled for every
step of it. Facts asked on the way are part of the form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from qdqtool.dialects import Way
from qdqtool.expressions import Const, Expr, Step, is_const
from qdqtool.plan.choices import Choice, Outcome
from qdqtool.plan.facts import Facts
from qdqtool.plan.forms import abstract, fill
from qdqtool.plan.legalize import Run, Site
from qdqtool.targets.demands import ANY, Part


class Chooser:
    """Chooses for one root scope: the main graph, or a function."""

    def __init__(self, site: Site, facts: Facts) -> None:
        self._site, self._facts = site, facts
        self._forms: dict[tuple[Step, Part], list[tuple[dict[Any, Any], Outcome]]] = {}

    def choose(self, step: Step, part: Part = ANY) -> Outcome:
        """The best legal way to say `step`, or why there is none; `part` is what it is for, where the runtime asks."""
        form, slots = abstract(step)
        for answers, found in self._forms.setdefault((form, part), []):
            if all(self._ask(slots, *key) == answer for key, answer in answers.items()):
                return _filled(found, slots)
        run = Run(self._site, lambda question, const, params: self._ask(slots, question, const, params), part=part)
        found = run.legalize(form)
        self._forms[form, part].append((run.answers, found))
        return _filled(found, slots)

    def follow(self, step: Step, names: tuple[str, ...], part: Part = ANY) -> Outcome:
        """`step` by a given chain of lowerings."""
        return Run(self._site, self._fact, names, part).legalize(step)

    def legalize(self, expr: Expr) -> Outcome:
        """As `choose`, for an expression around steps."""
        return Run(self._site, self._fact).legalize(expr)

    def least(self, ways: Iterable[Way], name: str) -> Outcome:
        """The best legal of several ways to say a fused operator."""
        return Run(self._site, self._fact).least(ways, name)

    def _fact(self, question: str, const: Const, params: tuple[Any, ...]) -> Any:
        return self._facts.ask(question, const, *params)

    def _ask(self, slots: Mapping[Expr, Expr], question: str, const: Const, params: tuple[Any, ...]) -> Any:
        real = fill(const, slots)
        assert is_const(real)
        return self._fact(question, real, params)


def _filled(found: Outcome, slots: Mapping[Expr, Expr]) -> Outcome:
    return replace(found, expr=fill(found.expr, slots)) if isinstance(found, Choice) else found
