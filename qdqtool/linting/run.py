"""Many files under the rules: found, linted in one process or several, and summed up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from qdqtool import targets
from qdqtool.errors import QdqtoolError, Unreadable
from qdqtool.findings import Severity
from qdqtool.linting import baseline
from qdqtool.linting.engine import Linted, linted
from qdqtool.linting.files import below
from qdqtool.linting.selection import Selection, chosen
from qdqtool.linting.subject import Subject
from qdqtool.model.load import Loaded, load
from qdqtool.rules import all_rules
from qdqtool.rules.descriptions import describe
from qdqtool.uncollected import uncollected
from qdqtool.validation import Mended, Validation


@dataclass(frozen=True, slots=True)
class Settings:
    """What ``api.validate`` is asked for; it explains each."""

    root: Path
    target: str = "ort"
    selection: Selection = field(default_factory=Selection)
    fail_on: Severity = "error"
    baseline: Path | None = None
    jobs: int = 1


def lint(loaded: Loaded, settings: Settings, file: str = "", path: str = "") -> Linted:
    """One model under the rules chosen for it; whatever its numbers are, arithmetic on them is no reason for warnings."""
    with uncollected(), np.errstate(all="ignore"):
        return linted(Subject(loaded, targets.profile(settings.target)), chosen(settings.selection, path), file, path)


def lint_file(file: Path, settings: Settings) -> Linted:
    """One file; what cannot be read is part of the answer."""
    try:
        return lint(load(file, trusting=True), settings, file.as_posix(), below(file, settings.root))
    except Unreadable as error:
        return Linted(error=error)


def lint_files(files: Sequence[Path], settings: Settings) -> list[Linted]:
    """All files, in `settings.jobs` processes."""
    if settings.jobs <= 1 or len(files) <= 1:
        return [lint_file(file, settings) for file in files]
    from concurrent.futures import ProcessPoolExecutor  # takes a while to load
    from concurrent.futures.process import BrokenProcessPool

    try:
        with ProcessPoolExecutor(min(settings.jobs, len(files))) as pool:
            return list(pool.map(partial(lint_file, settings=settings), files))
    except BrokenProcessPool:
        message, hint = "a process that was linting ended without an answer", "leave out -j to see at which file"
        raise QdqtoolError("worker-died", message, why="it was killed, perhaps for want of memory", hint=hint) from None


def summed_up(
    results: Mapping[str, Linted], settings: Settings, mended: Sequence[Mended] = (), failed: Mapping[str, QdqtoolError] | None = None
) -> Validation:
    """The record of results by file."""
    found = [finding for result in results.values() for finding in result.findings]
    known = baseline.read(settings.baseline) if settings.baseline is not None else []
    fresh, old = baseline.split(found, known)
    unreadable = {file: result.error for file, result in results.items() if result.error is not None}
    codes = {finding.code for finding in fresh}
    return Validation(
        str(targets.profile(settings.target)),
        settings.fail_on,
        tuple(results),
        tuple(fresh),
        tuple(finding for result in results.values() for finding in result.suppressed),
        tuple(old),
        tuple(baseline.stale(found, known, set(_judged(results, known, settings)), _codes(results, settings))),
        {**unreadable, **(failed or {})},
        tuple(mended),
        tuple(describe(rule) for code, rule in all_rules().items() if code in codes),
    )


def _judged(results: Mapping[str, Linted], known: Sequence[baseline.Known], settings: Settings) -> Iterator[str]:
    """Paths whose entries in the baseline can be judged: files that were read, and files that are gone."""
    yield from (below(Path(file), settings.root) for file, result in results.items() if file and result.error is None)
    yield from (entry.path for entry in known if not (settings.root / entry.path).exists())


def _codes(results: Mapping[str, Linted], settings: Settings) -> set[str]:
    return {rule.CODE for file in results for rule in chosen(settings.selection, below(Path(file), settings.root))}
