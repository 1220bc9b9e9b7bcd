"""Fixes carried out on a model, and the mended model checked against the original before it takes its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from qdqtool import targets
from qdqtool.errors import QdqtoolError
from qdqtool.linting.engine import Hit, hits
from qdqtool.linting.files import below
from qdqtool.linting.lines import difference, lines
from qdqtool.linting.run import Settings
from qdqtool.linting.selection import chosen
from qdqtool.linting.subject import Subject
from qdqtool.linting.suppression import suppression
from qdqtool.model.graph import View
from qdqtool.model.legible import require_text
from qdqtool.model.load import Loaded, load
from qdqtool.rules import Rule
from qdqtool.targets.profile import Profile
from qdqtool.validation import Applied, Mended

_HINT = "nothing was written; please report this with the model, and leave the rule out with --ignore"

PASSES = 4
"""A fix may make room for one of a rule before it; no chain is longer than this."""


def mend(file: Path, settings: Settings, *, unsafe: bool, output: Path | None) -> Mended | None:
    """Fix what can be fixed in a file; None when nothing can, written only where there is an `output`.

    Raises
    ------
    Unreadable
        The file is no model, or its data cannot be taken along.
    CheckFailed
        Safe fixes changed a result; nothing is written.
    """
    loaded = load(file, trusting=True)
    require_text(View(loaded.proto), str(file))
    before = lines(loaded.proto)
    rules = chosen(settings.selection, below(file, settings.root))
    with np.errstate(all="ignore"):
        applied = fix(loaded, targets.profile(settings.target), rules, unsafe=unsafe)
    if not applied:
        return None
    mended = Mended(file.as_posix(), tuple(applied), difference(before, lines(loaded.proto), file.name))
    return mended if output is None else _delivered(mended, loaded, output)


def fix(loaded: Loaded, profile: Profile, rules: Sequence[Rule], *, unsafe: bool) -> list[Applied]:
    """Carry out the fixes of one rule after the other, on a fresh view of the model each time, until none is left."""
    done: list[Applied] = []
    for _ in range(PASSES):
        found = list(_pass(loaded, profile, rules, unsafe=unsafe))
        done += found
        if not found:
            break
    return done


def _pass(loaded: Loaded, profile: Profile, rules: Sequence[Rule], *, unsafe: bool) -> Iterator[Applied]:
    """Every rule once."""
    at = 0
    while at < len(rules):
        subject, silent = Subject(loaded, profile), suppression(loaded.proto)
        for at in range(at, len(rules)):  # noqa: B020  # goes on behind the rule whose fixes made the subject stale
            found = [hit for hit in hits(subject, [rules[at]]) if not silent.silences(hit.code, hit.rule, hit.problem.at)]
            applied = [a for a in (_apply(hit, unsafe=unsafe) for hit in found) if a is not None]
            if applied:
                yield from applied
                break
        at += 1


def _apply(hit: Hit, *, unsafe: bool) -> Applied | None:
    change = hit.problem.fix
    if change is None or not (change.safe or unsafe):
        return None
    try:
        change.apply()
    except Exception as error:  # the fix is at fault, and the model in memory is half changed
        why = f"{type(error).__name__}: {error}"
        raise QdqtoolError("fix-failed", f"the fix of {hit.code} {hit.rule} failed", where=hit.problem.at, why=why, hint=_HINT) from error
    return Applied(hit.code, hit.rule, hit.problem.at, change.title, change.safe)


def _delivered(mended: Mended, loaded: Loaded, output: Path) -> Mended:
    """Bit for bit the same results are required where all fixes are safe; else the report tells how they differ."""
    from qdqtool.delivery import deliver
    from qdqtool.request import Request
    from qdqtool.result import Result

    request = Request(output=output.absolute())
    delivered = deliver(Result(loaded.proto, loaded), (), (), loaded.path, request, binding=all(a.safe for a in mended.applied))
    return replace(mended, written=output, check=delivered.check)
