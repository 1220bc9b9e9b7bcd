"""A comparison as text: where and why first, then what follows from it, the outputs, and how it was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from qdqtool.reports.layout import count, entry, paragraph

if TYPE_CHECKING:
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


def _block(run: Run, width: int, first: str, second: str, verbose: bool) -> Text:
    words, style = VERDICTS[run.verdict]
    at = f", first at {run.places[0].where}" if run.places and run.verdict != "equal" else ""
    result = paragraph(f"{_headline(run, first, second)}: {words}{at}", width, hanging=2, style=style)
    places = run.places if run.verdict != "equal" or verbose else ()
    for number, place in enumerate(places if verbose else places[:SHOWN]):
        result.append("\n" if number else "").append(_place(place, run, width, named=number > 0))
        if not number and run.following:
            result.append(entry("after it", f"{count(run.following, 'value')} inside {_follow(run.following)}", width))
    if len(places) > SHOWN and not verbose:
        result.append(entry("", f"and {count(len(places) - SHOWN, 'place')} more (-v lists them)", width))
    result.append("\n" if places else "").append(_outputs(run, width, verbose))
    for number, note in enumerate(run.notes):
        result.append(entry("" if number else "note", note, width))
    if run.verdict != "not compared":
        how = f"{run.first} against {run.second}, cut apart at {count(run.compared, 'value')}"
        result.append(entry("compared", how, width))
    return result


def _headline(run: Run, first: str, second: str) -> str:
    if not second:
        return f"{first}, {run.first} against {run.second}"
    return f"{first} against {second}" + (f" in {run.second}" if run.second != "ort" else "")


def _follow(number: int) -> str:
    return "differs as a consequence" if number == 1 else "differ as a consequence"


def _place(place: Place, run: Run, width: int, *, named: bool) -> Text:
    result = entry("then at", place.where, width, style="bold") if named else Text()
    if place.other != place.where:
        result.append(entry("in the 2nd", place.other, width))
    if place.cause != run.verdict:
        result.append(entry("", VERDICTS[place.cause][0], width))
    for number, reason in enumerate(place.reasons):
        result.append(entry("" if number else "why", reason, width))
    if not place.reasons and place.cause != "rounding":
        result.append(entry("why", "unknown: nothing that could be named is different", width))
    value = place.value if place.value == place.counterpart else f"{place.value} ({place.counterpart} in the 2nd)"
    result.append(entry("value", f"{value}: {place.difference}", width))
    if place.also:
        result.append(entry("also at", f"{', '.join(place.also[:SHOWN])}{_more(len(place.also) - SHOWN)}", width))
    return result


def _more(number: int) -> str:
    return f" and {number} more" if number > 0 else ""


def _outputs(run: Run, width: int, verbose: bool) -> Text:
    differing = [output for output in run.outputs if output.verdict != "equal"]
    if not run.outputs:
        return Text()
    if not differing:
        return entry("outputs", f"{count(len(run.outputs), 'output')}, equal", width)
    result = entry("outputs", f"{len(differing):,} of {count(len(run.outputs), 'output')} different", width)
    for output in differing if verbose else differing[:SHOWN]:
        result.append(entry("", f"{output.value}: {output.reason or output.difference}", width))
    return result
