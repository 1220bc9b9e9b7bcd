"""A fold as text: what was folded in groups, bytes and time, what stayed, and what the check says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from qdqtool.reports.closing import closing
from qdqtool.reports.layout import columns, count, entry, paragraph, size

if TYPE_CHECKING:
    from qdqtool.folding import Fold, Folding

KINDS = {
    "quantize": "quantized",
    "pairs": "cancelled",
    "scales": "scale computed",
    "collapse": "equal scales told once",
    "weights": "dequantized",
    "bias": "bias dequantized",
    "move": "moved as codes",
}
WORTH = 1.0
"""Seconds from which times are told."""


def folding_text(folding: Folding, width: int, *, source: str, written: Path | None, unchecked: str = "", verbose: bool = False) -> Text:
    """`written` is None for a dry run; `unchecked` says why there is no check."""
    result = paragraph(f"{source}: {_headline(folding)}", width, hanging=2, style="bold")
    result.append(_groups(folding.folds, width, verbose))
    if folding.kept:
        result.append(entry("kept", _kept(folding), width))
    for number, name in enumerate(folding.tidied if verbose else folding.tidied[:3]):
        result.append(entry("" if number else "tidied", name, width))
    if len(folding.tidied) > 3 and not verbose:
        result.append(entry("", f"and {len(folding.tidied) - 3} more (-v lists them)", width))
    if time := _time(folding):
        result.append(entry("time", time, width))
    return result.append(closing(folding, width, written=written, unchecked=unchecked, verbose=verbose))


def _kept(folding: Folding) -> str:
    said = count(folding.kept, "quantize/dequantize node")
    if folding.foldable and not folding.weights:
        return f"{said}, of which --weights could fold {folding.foldable:,}"
    held = f"held back by {' or '.join(folding.limits)}" if folding.foldable and folding.limits else ""
    some = f"{folding.foldable:,} of them " if folding.foldable < folding.kept else ""
    return f"{said}, {some}{held}" if held else said


def _headline(folding: Folding) -> str:
    nodes, data = folding.nodes, folding.bytes
    if not folding.folds and not folding.tidied:
        return f"{count(nodes[0], 'node')}, constants {size(data[0])}"
    return f"nodes {nodes[0]:,} to {nodes[1]:,}, constants {size(data[0])} to {size(data[1])}"


def _groups(folds: Iterable[Fold], width: int, verbose: bool) -> Text:
    groups: dict[tuple[str, str, str], list[Fold]] = defaultdict(list)
    for fold in folds:
        groups[fold.kind, fold.what, _exactness(fold)].append(fold)
    if not groups:
        return entry("folded", "nothing", width)
    result = Text("\n")
    for (kind, what, exactness), members in groups.items():
        result.append(entry(f"{len(members):,} x", what, width, style="bold"))
        result.append(entry("", f"{KINDS[kind]}; {exactness}", width))
        result.append(entry("", _sizes(members), width))
        result.append(_table(members) if verbose else "").append("\n")
    return result


def _exactness(fold: Fold) -> str:
    return f"{fold.exactness}" + (f" (within {fold.bound})" if fold.bound else "")


def _sizes(folds: Sequence[Fold]) -> str:
    nodes, data = ([sum(getattr(fold, what)[side] for fold in folds) for side in (0, 1)] for what in ("nodes", "bytes"))
    return "nodes {:,} to {:,}, constants ".format(*nodes) + f"{size(data[0])} to {size(data[1])}"


def _table(folds: Sequence[Fold]) -> Text:
    """Each node with its bytes, and its time where some took long."""
    timed = sum(fold.seconds for fold in folds) >= WORTH
    rows = [(fold.where, *map(size, fold.bytes), *([seconds(fold.seconds)] if timed else [])) for fold in folds]
    headings = ("node", "before", "after", *(["time"] if timed else []))
    return Text("\n").append(columns(headings, rows, right=len(headings) - 1))


def _time(folding: Folding) -> str:
    """What planning and computing took, when that is long."""
    computing = sum(fold.seconds for fold in folding.folds)
    if folding.seconds + computing < WORTH:
        return ""
    rate = f", {size(sum(fold.bytes[1] for fold in folding.folds) / computing)}/s" if computing else ""
    return f"planning {seconds(folding.seconds)}, computing {seconds(computing)}{rate}"


def seconds(number: float) -> str:
    """``12 ms``, ``3.4 s``."""
    return f"{number * 1000:.0f} ms" if number < 0.9995 else f"{number:.1f} s"
