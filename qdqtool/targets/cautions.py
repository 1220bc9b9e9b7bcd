"""What a runtime is known to refuse, to compute otherwise or to do slowly: rows of a profile, each with where it is known from.

A lint rule of the 4xx looks for one kind of complaint and reads here for which runtimes, types and operators it counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from qdqtool.capabilities import Types
from qdqtool.findings import Severity
from qdqtool.quantization import Kind

Evidence = Literal["measured", "source", "docs"]
Role = Literal["", "weight", "activation"]
Spread = Literal["tensor", "axis", "blocks"]


@dataclass(frozen=True, slots=True, eq=False)
class Caution:
    """One row. What is left empty holds for all.

    `rule`: the lint rule that looks for it; empty where none can. `text`: what the runtime does then. `id`: its number in the survey
    of runtimes; empty for what was measured since. `source`, `evidence`: where that is known from. `kind`, `storage`, `scale`,
    `role`, `spread`: which steps it is about; a weight is a step on a constant. `ops`: which operators, of `domain`. `attribute`:
    which attribute. `numbers`: limits by name, as the rule reads them. `pairs`: what goes with what, as the rule reads it. `first`,
    `last`: versions of the runtime.
    """

    rule: str
    text: str
    id: str
    source: str
    evidence: Evidence
    severity: Severity = "error"
    hint: str = ""
    kind: Kind | None = None
    storage: Types = frozenset()
    scale: Types = frozenset()
    role: Role = ""
    spread: tuple[Spread, ...] = ()
    ops: frozenset[str] = frozenset()
    domain: str = ""
    attribute: str = ""
    numbers: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    pairs: frozenset[tuple[str, str]] = frozenset()
    first: str = ""
    last: str = ""


class Cautions:
    """The rows of one profile, by rule."""

    def __init__(self, rows: Iterable[Caution] = ()) -> None:
        self.rows = tuple(rows)

    @cached_property
    def _by_rule(self) -> dict[str, tuple[Caution, ...]]:
        return {rule: tuple(r for r in self.rows if r.rule == rule) for rule in {r.rule for r in self.rows}}

    @cached_property
    def binding(self) -> tuple[Caution, ...]:
        """The rows that single steps can be judged by."""
        from qdqtool.targets.demands import binding  # judges by rule, which know expressions

        return binding(self.rows)

    def of(self, rule: str) -> tuple[Caution, ...]:
        """The rows that a rule reads."""
        return self._by_rule.get(rule, ())


def at_version(rows: Iterable[Caution], versions: Sequence[str], version: str) -> Cautions:
    """The rows of one of `versions`, which stand oldest first."""
    here = versions.index(version)
    low = {v: k for k, v in enumerate(versions)}
    return Cautions(r for r in rows if low.get(r.first, 0) <= here <= low.get(r.last, len(versions)))
