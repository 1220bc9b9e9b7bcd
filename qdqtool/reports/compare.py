"""A comparison as text: where and why first, then what follows from it, the outputs, and how it was found."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.text import Text

from qdqtool.reports.layout import count, entry, paragraph

if TYPE_CHECKING:
    from qdqtool.check.compare import Difference
    from qdqtool.comparison import Comparison, Place, Run

SHOWN = 5
VERDICTS = {
    "equal": ("equal", "green"),
    "rounding": ("equal but for rounding", "green"),
    "fusion": ("parted by nodes that the runtime joins", "bold red"),
    "known fault": ("parted by a known fault of the runtime", "bold red"),
    "different": ("different", "bold red"),
    "not compared": ("not compared", "yellow"),
}


def comparison_text(comparison: Comparison, width: int, *, first: str, second: str = "", verbose: bool = False) -> Text:
    """One block for each runtime; `second` is empty when one model is compared with itself."""
    result = Text()
    for number, run in enumerate(comparison.runs):
        result.append("\n" if number else "").append(_block(run, width, first, second, verbose))
    return result


def elsewhere_text(comparison: Comparison, width: int) -> Text:
    """The same as a line or two for each runtime, at the end of another report."""
    result = Text()
    for run in comparison.runs:
        words, style = VERDICTS[run.verdict]
        first = run.places[0] if run.places and run.places[0].cause == run.verdict else None
        at = f", first at {first.where}" if first is not None else ""
        result.append(entry("", f"in {run.second}: {words}{at}", width, style=style))
        for note in (*(first.reasons if first is not None else ()), *run.notes):
            result.append(entry("", note, width))
    return result


def _block(run: Run, width: int, first: str, second: str, verbose: bool) -> Text:
    words, style = VERDICTS[run.verdict]
    result = paragraph(f"{_headline(run, first, second)}: {words}", width, hanging=2, style=style)
    places = _listed(run, verbose)
    for number, place in enumerate(places if verbose else places[:SHOWN]):
        result.append("\n" if number else "").append(_place(place, run, width, "then at" if number else "first at"))
        if not number and run.following:
            result.append(entry("after it", f"{count(run.following, 'value')} inside {_follow(run.following)}", width))
    if len(places) > SHOWN and not verbose:
        result.append(entry("", f"and {count(len(places) - SHOWN, 'place')} more (-v lists them)", width))
    if more := len(run.places) - len(places):
        result.append(entry("beside", f"{count(more, 'place')} within {'its' if more == 1 else 'their'} rounding (-v lists them)", width))
    result.append("\n" if places else "").append(_outputs(run, width, verbose))
    for number, note in enumerate(run.notes):
        result.append(entry("" if number else "note", note, width))
    if run.verdict != "not compared":
        how = f"{run.first} against {run.second}, cut apart at {count(run.compared, 'value')}"
        result.append(entry("compared", how, width))
    return result


def _listed(run: Run, verbose: bool) -> tuple[Place, ...]:
    """Roundings are told only where there is nothing else."""
    if verbose or run.verdict == "rounding":
        return run.places
    return tuple(place for place in run.places if place.cause != "rounding")


def _headline(run: Run, first: str, second: str) -> str:
    if not second:
        return f"{first}, {run.first} against {run.second}"
    return f"{first} against {second}" + (f" in {run.second}" if run.second != "ort" else "")


def _follow(number: int) -> str:
    return "differs as a consequence" if number == 1 else "differ as a consequence"


def _place(place: Place, run: Run, width: int, label: str) -> Text:
    other = f" (in the second: {place.other})" if place.other != place.where else ""
    result = entry(label, place.where + other, width, style="bold")
    if place.cause != run.verdict:
        result.append(entry("", VERDICTS[place.cause][0], width))
    for number, reason in enumerate(place.reasons):
        result.append(entry("" if number else "why", reason, width))
    if not place.reasons and place.cause != "rounding":
        result.append(entry("why", "unknown: nothing that could be named is different", width))
    value = place.value if place.value == place.counterpart else f"{place.value} ({place.counterpart} in the 2nd)"
    result.append(entry("value", f"{value}: {_measured(place.difference)}", width))
    if place.also:
        result.append(entry("also at", f"{', '.join(place.also[:SHOWN])}{_more(len(place.also) - SHOWN)}", width))
    return result


def _measured(difference: Difference | None) -> str:
    """How many differ, by how much at most, and the first of them."""
    if difference is None:
        return "different"
    if not difference.count:
        return f"{count(difference.elements, 'value')} equal"
    share = f", {difference.of_maximum:.2g} times the largest" if math.isfinite(difference.of_maximum) else ""
    size = f" by at most {difference.greatest:.3g}{share}" if difference.greatest else ""
    return f"{difference.count:,} of {count(difference.elements, 'value')} differ{size}; {difference.example}"


def _more(number: int) -> str:
    return f" and {number} more" if number > 0 else ""


def _outputs(run: Run, width: int, verbose: bool) -> Text:
    differing = [output for output in run.outputs if output.verdict != "equal"]
    if not run.outputs:
        return Text()
    if not differing:
        return entry("outputs", f"{count(len(run.outputs), 'output')}, equal", width)
    result = entry("outputs", f"different: {len(differing):,} of {len(run.outputs):,}", width)
    for output in differing if verbose else differing[:SHOWN]:
        result.append(entry("", f"{output.value}: {output.reason or _measured(output.difference)}", width))
    return result
