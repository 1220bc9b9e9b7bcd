"""One call of the linter: settings from the caller and from the project, then fixes, rules, baseline."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from onnx import ModelProto

from qdqtool import targets
from qdqtool.errors import QdqtoolError, Usage
from qdqtool.findings import Severity
from qdqtool.linting import baseline, config, files
from qdqtool.linting.run import Settings, lint, lint_files, summed_up
from qdqtool.linting.selection import Selection, require_known
from qdqtool.model import ir
from qdqtool.model.load import load
from qdqtool.validation import Mended, Validation


@dataclass(frozen=True, slots=True)
class Wanted:
    """The arguments of ``api.validate``, which explains each; None leaves a setting to the project."""

    target: str | None = None
    select: Sequence[str] | None = None
    ignore: Sequence[str] | None = None
    per_file: Mapping[str, Sequence[str]] | None = None
    exclude: Sequence[str] | None = None
    fail_on: Severity | None = None
    baseline: Path | None = None
    write_baseline: Path | None = None
    jobs: int = 1
    fix: bool = False
    unsafe: bool = False
    diff: bool = False
    fixed: Path | None = None


def validate(models: Any, wanted: Wanted, project: config.Config, base_dir: Path | None = None) -> Validation:
    """Lint what `models` stands for: paths, or a model in memory."""
    settings = _settings(wanted, project)
    if isinstance(models, ModelProto) or ir.is_ir(models):
        return _in_memory(models, wanted, settings, base_dir)
    paths = [Path(models)] if isinstance(models, str | os.PathLike) else [Path(model) for model in models]
    found = files.find(paths, settings.root, tuple(wanted.exclude) if wanted.exclude is not None else project.exclude)
    mended, failed = _mended(found, wanted, settings)
    if wanted.fixed is not None and mended and not wanted.diff:
        found = [wanted.fixed]
    results = dict(zip((file.as_posix() for file in found), lint_files(found, settings), strict=True))
    return _written(summed_up(results, settings, mended, failed), wanted)


def _settings(wanted: Wanted, project: config.Config) -> Settings:
    given = {} if wanted.per_file is None else {pattern: tuple(words) for pattern, words in wanted.per_file.items()}
    selection = Selection(
        project.select if wanted.select is None else tuple(wanted.select),
        project.ignore if wanted.ignore is None else tuple(wanted.ignore),
        project.per_file if wanted.per_file is None else tuple(given.items()),
    )
    require_known(selection)
    target = wanted.target or project.target or "ort"
    targets.profile(target)
    old = None if wanted.write_baseline is not None else wanted.baseline or project.baseline
    return Settings(_root(wanted, project), target, selection, wanted.fail_on or project.fail_on, old, wanted.jobs)


def _root(wanted: Wanted, project: config.Config) -> Path:
    """What paths in fingerprints start from: the folder of the settings, else that of the baseline, else the working folder."""
    used = wanted.write_baseline or wanted.baseline
    return project.root if project.file is not None or used is None else Path(os.path.abspath(used)).parent


def _in_memory(model: Any, wanted: Wanted, settings: Settings, base_dir: Path | None) -> Validation:
    if wanted.fix or wanted.diff:
        raise Usage("no-file", "only files are mended, not models in memory", hint="save the model first")
    proto, folder = ir.to_proto(model) if ir.is_ir(model) else (model, None)
    loaded = load(proto, base_dir or folder, trusting=True)
    return _written(summed_up({"": lint(loaded, settings)}, settings), wanted)


def _mended(found: Sequence[Path], wanted: Wanted, settings: Settings) -> tuple[list[Mended], dict[str, QdqtoolError]]:
    """Files with their fixes, and why others could not get theirs; unreadable ones are told later."""
    if not (wanted.fix or wanted.diff):
        return [], {}
    if wanted.fixed is not None and len(found) != 1:
        raise Usage("several-models", f"{len(found)} models cannot all become {wanted.fixed}", hint="name one model")
    from qdqtool.linting.mending import mend

    mended: list[Mended] = []
    failed: dict[str, QdqtoolError] = {}
    for file in found:
        try:
            change = mend(file, settings, unsafe=wanted.unsafe, output=None if wanted.diff else wanted.fixed or file)
        except QdqtoolError as error:
            failed[file.as_posix()] = error
        else:
            mended += [change] if change is not None else []
    return mended, failed


def _written(result: Validation, wanted: Wanted) -> Validation:
    """With a new baseline everything is known."""
    if wanted.write_baseline is None:
        return result
    baseline.write(wanted.write_baseline, result.findings)
    return replace(result, findings=(), known=result.findings, rules=())
