"""The search for the first nodes that part, as fine as the values at hand allow, then finer around what was found."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from qdqtool.check.sessions import CannotRun
from qdqtool.comparing.fusing import units
from qdqtool.comparing.locating import Parting, Task, computed, partings
from qdqtool.comparing.pairs import Known, Pairs, pairs
from qdqtool.comparing.sides import Side
from qdqtool.comparing.watching import around, spread_out, watchable
from qdqtool.kernels.sources import Array
from qdqtool.model.structure import reads

_DEEPEST = 8
_WIDEST = 4


@dataclass(frozen=True, slots=True)
class Found:
    """What parts, at which values both were cut, and how many values differ when both run freely."""

    partings: tuple[Parting, ...]
    pairs: Pairs
    differing: frozenset[str]


def search(task: Task, fixed: dict[str, str]) -> Found:
    """Find them.

    Raises
    ------
    CannotRun
        A copy with values inside as outputs does not run.
    """
    names = watchable(task.a, task.b), watchable(task.b, task.a)
    watched = [spread_out(side, all_, inputs) for side, all_, inputs in _both(task, names)]
    found, whole = _at(task, fixed, watched), all(len(w) == len(n) for w, n in zip(watched, names, strict=True))
    first = found
    for _ in range(0 if whole else _DEEPEST):
        closer = _closer(task, found, names)
        if not found.partings or all(set(c) <= set(w) for c, w in zip(closer, watched, strict=True)):
            break
        watched = closer
        found = _at(task, fixed, watched)
    return replace(found, differing=first.differing)


def _both(task: Task, names: Sequence[list[str]]) -> list[tuple[Side, list[str], dict[str, Array]]]:
    return [(task.a, names[0], task.inputs), (task.b, names[1], task.others)]


def _at(task: Task, fixed: dict[str, str], watched: Sequence[list[str]]) -> Found:
    """Both run freely with these values as outputs, then cut apart at those that pair up."""
    old = computed(task.there, task.a, task.inputs, watched[0])
    new = _of_other(task, old, watched[1])
    task.values.clear()
    task.values.update(old)
    paired = pairs(task.a, task.b, Known(old, new, fixed))
    paired = units(task.a, paired) if task.other.in_units else paired
    found, paired = _without_strangers(task, paired)
    differing = frozenset(x for x, y in paired.items() if y in new and not _equal(old[x], new[y]))
    return Found(tuple(found), paired, differing)


def _of_other(task: Task, old: dict[str, Array], watched: list[str]) -> dict[str, Array]:
    """Values of the second model, in the first runtime where it runs there, so that only the models count."""
    if task.a is task.b:
        return old
    try:
        return computed(task.there, task.b, task.others, watched)
    except CannotRun:
        return computed(task.other, task.b, task.others, watched)


def _equal(old: Array, new: Array) -> bool:
    return old.dtype == new.dtype and old.tobytes() == new.tobytes()


def _without_strangers(task: Task, paired: Pairs) -> tuple[list[Parting], Pairs]:
    """Leave out pairs that only seem to be one: the second model means something else by the value, and its readers part too.

    A value of that kind parts, and what reads it parts as well; with the two joined to one piece, nothing does.
    """
    found = partings(task, paired)
    behind = {p.value: _behind(p, found) for p in found if p.judgement.level == "different"}
    suspects = {value for value, readers in behind.items() if readers and value not in task.a.signature.outputs}
    if not suspects:
        return found, paired
    left = set(paired)
    # Without these cuts another runtime may not run it.
    with suppress(CannotRun):
        left = {p.value for p in partings(task, {x: y for x, y in paired.items() if x not in suspects})}
    strangers = {value for value in suspects if not left.intersection(behind[value])}
    if not strangers:
        return found, paired
    kept = {x: y for x, y in paired.items() if x not in strangers}
    return partings(task, kept), kept


def _behind(parting: Parting, found: Sequence[Parting]) -> set[str]:
    return {p.value for p in found if p is not parting and any(parting.value in reads(node) for node in p.before)}


def _closer(task: Task, found: Found, names: Sequence[list[str]]) -> list[list[str]]:
    """Values in the pieces that part, and at their borders."""
    chosen = sorted(found.partings, key=lambda p: p.judgement.level != "different")[:_WIDEST]
    old = around(task.a, [p.value for p in chosen], list(found.pairs), names[0])
    new = around(task.b, [p.other for p in chosen], list(found.pairs.values()), names[1])
    return [old, new]
