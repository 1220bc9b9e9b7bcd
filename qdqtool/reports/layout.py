"""Lines of text that fit a width: labelled entries with a hanging indent, counts and sizes in words."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import TextWrapper

from rich.text import Text

LABEL = 11
_UNITS = ("B", "kB", "MB", "GB", "TB")


def lines(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """`text` in lines of at most `width`, indented; names are never cut, so that they can be copied."""
    wrapper = TextWrapper(max(width, 30), first, rest, break_long_words=False, break_on_hyphens=False)
    return [line for part in text.splitlines() for line in wrapper.wrap(part)] or [first]


def entry(label: str, text: str, width: int, style: str = "") -> Text:
    """A label of fixed width and `text` beside it."""
    margin = " " * (LABEL + 2)
    body = "\n".join(lines(text, width, margin, margin))[len(margin) :]
    return Text().append(f"  {label:<{LABEL}}", style="dim").append(f"{body}\n", style=style)


def paragraph(text: str, width: int, hanging: int = 0, style: str = "") -> Text:
    """Wrapped text; lines after the first are indented."""
    return Text().append("\n".join(lines(text, width, rest=" " * hanging)) + "\n", style=style)


def count(number: int, singular: str, plural: str = "") -> str:
    """``1 node``, ``2 nodes``, ``1,000 nodes``."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def size(number: float) -> str:
    """Bytes in decimal units with at most one decimal: ``512 B``, ``3.4 MB``."""
    for unit in _UNITS:
        if number < 999.95 or unit == _UNITS[-1]:
            break
        number /= 1000
    return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"


def columns(headings: Sequence[str], rows: Sequence[Sequence[str]], right: int) -> Text:
    """A table with the last `right` columns flush right."""
    widths = [max(len(cell) for cell in column) for column in zip(headings, *rows, strict=True)]
    result = Text().append(_row(headings, widths, right), style="dim")
    for row in rows:
        result.append(_row(row, widths, right))
    return result


def _row(cells: Sequence[str], widths: Sequence[int], right: int) -> str:
    left = len(cells) - right
    aligned = [f"{cell:<{width}}" if i < left else f"{cell:>{width}}" for i, (cell, width) in enumerate(zip(cells, widths, strict=True))]
    return "    " + "  ".join(aligned).rstrip() + "\n"
