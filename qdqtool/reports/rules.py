"""Rules as text: a table of all, or the page of one."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.text import Text

from qdqtool.reports.layout import columns, paragraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qdqtool.rules.descriptions import Description


def rules_text(rules: Sequence[Description], width: int) -> Text:
    """A line for each rule, by group."""
    result = Text()
    for group, members in groupby(rules, key=lambda rule: rule.group):
        rows = [(rule.code, rule.name, rule.severity) for rule in members]
        result.append(f"{group}\n", style="bold").append(columns(("code", "rule", "severity"), rows, right=0)).append("\n")
    return result.append(paragraph("`qdqtool validate --explain CODE` shows the page of a rule.", width))


def rule_text(rule: Description, width: int) -> Text:
    """The page of a rule."""
    result = paragraph(f"{rule.code} {rule.name}  ({rule.severity}, {rule.group})", width, style="bold")
    for part in rule.page.split("\n\n"):
        plain = part.replace("**", "").replace("``", "`")
        wrapped = plain if plain.startswith(("    ", "|", "- ", "* ")) or "\n    " in plain else " ".join(plain.split())
        result.append("\n").append(paragraph(wrapped, width) if wrapped is not plain else Text(f"{plain}\n"))
    return result
