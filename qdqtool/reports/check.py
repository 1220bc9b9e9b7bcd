"""What the check says, in words: who judged, what was compared, and what differs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.text import Text

from qdqtool.reports.layout import count, entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qdqtool.check import Report
    from qdqtool.check.compare import Comparison

SHOWN = 5
STEPS = ("rewritten step", "rewritten steps")
OUTPUTS = ("output of the whole model", "outputs of the whole model")
STYLES = {"equal": "green", "within bound": "green", "different": "bold red", "not checked": "yellow"}


def check_text(report: Report, width: int, *, verbose: bool = False) -> Text:
    """The verdict, what it rests on, and every comparison when verbose, else those that failed."""
    result = entry("check", f"{report.verdict} ({report.judge})", width, style=STYLES[report.verdict])
    if report.steps:
        result.append(entry("", _counts(STEPS, report.steps), width))
    whole = f"not checked at model level: {report.reason}" if report.reason else _counts(OUTPUTS, report.outputs)
    result.append(entry("", whole, width))
    compared = [*report.comparisons, *report.replayed]
    shown = [c for c in compared if verbose or c.verdict == "different"]
    if not verbose and report.unchecked:
        result.append(entry("", _first(report.unchecked), width))
    for comparison in shown if verbose else shown[:SHOWN]:
        result.append(entry("", str(comparison), width))
    if not verbose and len(shown) > SHOWN:
        result.append(entry("", f"and {len(shown) - SHOWN} more (-v lists them)", width))
    for note in report.notes:
        result.append(entry("", note, width))
    return result


def _first(unchecked: Sequence[Comparison]) -> str:
    """One reason stands for all, since most share it."""
    return f"{unchecked[0]}" + (f"; {len(unchecked) - 1:,} more (-v lists them)" if len(unchecked) > 1 else "")


def _counts(what: tuple[str, str], comparisons: tuple[Comparison, ...]) -> str:
    total = count(len(comparisons), *what)
    verdicts = Counter(c.verdict for c in comparisons)
    if len(verdicts) < 2:
        return f"{total} {next(iter(verdicts), '')}".rstrip()
    return f"{total}: " + ", ".join(f"{number:,} {verdict}" for verdict, number in verdicts.items())
