"""What people read about a rule: its docstring, cut into a summary and the rest."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from qdqtool.findings import Severity
from qdqtool.rules import Rule, all_rules, name_of


@dataclass(frozen=True, slots=True)
class Description:
    """A rule for readers: `summary` is the first sentence of its page, `page` all of it (reStructuredText, short)."""

    code: str
    name: str
    severity: Severity
    group: str
    summary: str
    page: str

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: getattr(self, name) for name in ("code", "name", "severity", "group", "summary", "page")}


def describe(rule: Rule) -> Description:
    """A rule for readers."""
    page = inspect.cleandoc(str(rule.__doc__))
    group = rule.__name__.split(".")[-2]  # type: ignore[attr-defined]
    return Description(rule.CODE, name_of(rule), rule.SEVERITY, group, " ".join(page.split("\n\n")[0].split()), page)


def descriptions() -> list[Description]:
    """All rules, by their codes."""
    return [describe(rule) for rule in all_rules().values()]
