"""Errors as text and as a record: one message, then where, why and the way out; refusals grouped by reason."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from qdqtool.errors import CheckFailed, QdqtoolError, Refused
from qdqtool.reports.layout import count, entry, paragraph

PLACES = 3


def text(error: QdqtoolError, width: int, *, verbose: bool = False) -> Text:
    """The error for people; all places when verbose."""
    result = paragraph(f"error: {_near(error.message)}  [{error.code}]", width, hanging=7, style="bold red")
    told = isinstance(error, CheckFailed) and error.report is not None  # the check says why itself
    for label in ("where",) if told else ("where", "why"):
        result.append(_optional(label, getattr(error, label), width))
    if isinstance(error, Refused):
        result.append(_refusals(error.reasons, width, verbose))
    if isinstance(error, CheckFailed) and error.report is not None:
        from qdqtool.reports.check import check_text

        result.append(check_text(error.report, width, verbose=verbose))
    return result.append(_optional("hint", error.hint, width))


def record(error: QdqtoolError) -> dict[str, Any]:
    """The error as data."""
    fields = {name: getattr(error, name) for name in ("code", "message", "where", "why", "hint")}
    data: dict[str, Any] = {"error": fields | {"status": error.status}}
    if isinstance(error, Refused):
        data["refusals"] = [_refusal_record(refusal) for refusal in error.reasons]
    if isinstance(error, CheckFailed) and error.report is not None:
        data["check"] = error.report.to_dict()
    return data


def _optional(label: str, said: str, width: int) -> Text:
    return entry(label, _near(said), width) if said else Text()


def _near(said: str) -> str:
    """Paths below the working folder as a user would type them."""
    return said.replace(f"{Path.cwd()}{os.sep}", "")


def _refusals(refusals: Sequence[Any], width: int, verbose: bool) -> Text:
    groups: dict[tuple[str, tuple[str, ...], str], list[str]] = defaultdict(list)
    following = 0
    for refusal in refusals:
        if refusal.because is not None and not verbose:
            following += 1
        else:
            groups[refusal.code, refusal.reasons, refusal.hint].append(refusal.at)
    result = Text()
    for (_, reasons, hint), places in groups.items():
        result.append("\n").append(_group(reasons, places, width, verbose)).append(_optional("hint", hint, width))
    if following:
        result.append(entry("", f"{count(following, 'more refusal follows', 'more refusals follow')} from these (-v lists them)", width))
    return result


def _group(reasons: Sequence[str], places: Sequence[str], width: int, verbose: bool) -> Text:
    shown = places if verbose else places[:PLACES]
    result = Text()
    for number, reason in enumerate(reasons):
        result.append(entry("" if number else "why", reason, width))
    for number, place in enumerate(shown):
        result.append(entry("" if number else "where", place, width))
    if len(places) > len(shown):
        result.append(entry("", f"and {count(len(places) - len(shown), 'more place')} (-v lists them)", width))
    return result


def _refusal_record(refusal: Any) -> dict[str, Any]:
    because = refusal.because.at if refusal.because is not None else None
    return {"at": refusal.at, "code": refusal.code, "reasons": list(refusal.reasons), "hint": refusal.hint, "because": because}
