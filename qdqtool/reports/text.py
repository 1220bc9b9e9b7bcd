"""A conversion as text: what changed in groups, what stayed, and what the check says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from qdqtool.reports.closing import closing
from qdqtool.reports.layout import count, entry, paragraph, size

if TYPE_CHECKING:
    from qdqtool.changes import Change
    from qdqtool.conversion import Conversion


def conversion_text(
    conversion: Conversion, width: int, *, source: str, written: Path | None, unchecked: str = "", verbose: bool = False
) -> Text:
    """`written` is None for a dry run; `unchecked` says why there is no check."""
    result = paragraph(f"{source}: {_movement(conversion)}", width, hanging=2, style="bold")
    result.append(_changes(conversion.changes, width, verbose))
    if conversion.kept:
        result.append(entry("kept", count(conversion.kept, "quantize/dequantize node"), width))
    return result.append(closing(conversion, width, written=written, unchecked=unchecked, verbose=verbose))


def _movement(conversion: Conversion) -> str:
    source, target = conversion.source_opset, conversion.target_opset
    return f"opset {source} to {target}" if source != target else f"opset {source}"


def _changes(changes: Iterable[Change], width: int, verbose: bool) -> Text:
    groups: dict[tuple[str, str], list[Change]] = defaultdict(list)
    for change in changes:
        groups[change.what, _manner(change)].append(change)
    if not groups:
        return entry("changed", "no node", width)
    result = Text("\n")
    for (what, manner), members in groups.items():
        result.append(_group(what, manner, members, width, verbose)).append("\n")
    return result


def _manner(change: Change) -> str:
    how = f"by {', '.join(change.how)}" if change.how else "respelled"
    return f"{how}; {change.exactness}" + (f" (within {change.bound})" if change.bound else "")


def _group(what: str, manner: str, members: list[Change], width: int, verbose: bool) -> Text:
    result = entry(f"{len(members):,} x", what, width, style="bold")
    result.append(entry("", manner, width))
    if sizes := _sizes(members):
        result.append(entry("", ", ".join(sizes), width))
    for change in members if verbose else ():
        result.append(entry("", change.where, width, style="dim"))
    return result


def _sizes(members: list[Change]) -> list[str]:
    """Nodes and bytes of constants before and after, where they changed."""
    nodes = [sum(change.nodes[side] for change in members) for side in (0, 1)]
    data = [sum(change.bytes[side] for change in members) for side in (0, 1)]
    parts = ["nodes {:,} to {:,}".format(*nodes)] if nodes[0] != nodes[1] else []
    return parts + ([f"constants {size(data[0])} to {size(data[1])}"] if data[0] != data[1] else [])
