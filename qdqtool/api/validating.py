"""``validate``: what is wrong with models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx import ModelProto

    from qdqtool.findings import Severity
    from qdqtool.rules.descriptions import Description
    from qdqtool.validation import Validation


def validate(
    models: str | Path | ModelProto | Sequence[str | Path] | Any,
    *,
    target: str | None = None,
    select: str | Sequence[str] | None = None,
    ignore: str | Sequence[str] | None = None,
    per_file_ignores: Mapping[str, Sequence[str]] | None = None,
    exclude: str | Sequence[str] | None = None,
    fail_on: Severity | None = None,
    baseline: str | Path | None = None,
    write_baseline: str | Path | None = None,
    config: str | Path | None = None,
    jobs: int = 1,
    base_dir: str | Path | None = None,
    fix: bool = False,
    unsafe: bool = False,
    diff: bool = False,
    fixed: str | Path | None = None,
) -> Validation:
    """Say what is wrong with quantized models: against the specification, in their values and patterns, and for a runtime.

    Parameters
    ----------
    models : path, sequence of paths, ModelProto or onnx_ir.Model
        Files, folders (every ``.onnx`` below them), or one model in memory.
    target : str, optional
        What the models shall run in, as ``NAME[@VERSION]``; by default the newest ONNX Runtime.
    select, ignore : str or sequence of str, optional
        Rules to run or to leave out: codes, their beginnings, or names. The longer word wins.
    per_file_ignores : mapping, optional
        Patterns of paths (below the folder of the settings) to rules that are left out there.
    exclude : str or sequence of str, optional
        Patterns of paths that are passed over below folders.
    fail_on : {"error", "warning", "info"}, optional
        Which findings make ``Validation.ok`` False; by default errors.
    baseline, write_baseline : str or Path, optional
        A file of known findings, which are not reported; where to write one with all that is found.
    config : str or Path, optional
        Settings for what is not given here: a ``qdqtool.toml`` or ``pyproject.toml``, or a folder, in which (or above which)
        the nearest one is looked for. Without it none are read.
    jobs : int
        Number of processes.
    base_dir : str or Path, optional
        Folder of the external data of a model in memory.
    fix, unsafe, diff : bool
        Mend what can be mended without changing a result; also what changes results; only say what would change.
    fixed : str or Path, optional
        Where the mended model goes; by default it replaces the file. It is compared with the original first.

    Returns
    -------
    Validation
        Findings by file. Files that are no model, and files whose fixes do not pass the check, are in ``errors``.

    Raises
    ------
    Usage
        A rule, target or setting is unknown, or no model was named.
    """
    from qdqtool import asked
    from qdqtool.findings import SEVERITIES
    from qdqtool.linting import config as settings
    from qdqtool.linting.validate import Wanted, validate

    asked.require_one("fail_on", fail_on, (None, *SEVERITIES))
    chosen, ignored, passed = (None if words is None else asked.listed(words) for words in (select, ignore, exclude))
    project = settings.Config(Path.cwd()) if config is None else settings.nearest(Path(config))
    known, new, mended = (None if path is None else Path(path) for path in (baseline, write_baseline, fixed))
    wanted = Wanted(target, chosen, ignored, per_file_ignores, passed, fail_on, known, new, jobs, fix, unsafe, diff, mended)
    return validate(models, wanted, project, None if base_dir is None else Path(base_dir))


def rules() -> list[Description]:
    """All rules that ``validate`` knows, with their pages."""
    from qdqtool.rules.descriptions import descriptions

    return descriptions()
