"""The last lines of every report on a rewritten model: notes, the check, and what was written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from qdqtool.reports.check import check_text
from qdqtool.reports.compare import elsewhere_text
from qdqtool.reports.layout import entry, size

if TYPE_CHECKING:
    from qdqtool.conversion import Conversion
    from qdqtool.folding import Folding


def closing(result: Conversion | Folding, width: int, *, written: Path | None, unchecked: str, verbose: bool) -> Text:
    """`written` is None for a dry run; `unchecked` says why there is no check."""
    text = Text()
    for number, note in enumerate(result.notes):
        text.append(entry("" if number else "notes", note, width))
    if result.check is None:
        text.append(entry("check", f"not checked: {unchecked}", width, style="yellow"))
    else:
        text.append(check_text(result.check, width, verbose=verbose))
    if result.elsewhere is not None:
        text.append(elsewhere_text(result.elsewhere, width))
    said = f"{written}, {size(written.stat().st_size)}" if written else "nothing: this is a dry run"
    text.append(entry("written", said, width))
    for file in result.files[1:]:
        text.append(entry("", f"{file.name}, {size(file.stat().st_size)}", width))
    return text
