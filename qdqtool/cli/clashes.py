"""Files of a report must not be files of a model: a report would replace it without a word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from qdqtool.errors import Usage
from qdqtool.reports.json import STDOUT


def require_apart(reports: Mapping[str, Path | None], models: Iterable[Path | None], outputs: Iterable[Path | None] = ()) -> None:
    """Refuse reports that would overwrite a model, its data, or what is going to be written.

    Parameters
    ----------
    reports : mapping of str to Path, optional
        Files to write by the option that names them; None and ``-`` are none.
    models : iterable of Path, optional
        Models that are read, or folders of them.
    outputs : iterable of Path, optional
        Models and data files that are written.

    Raises
    ------
    Usage
        ``report-is-model``, for the first that clashes.
    """
    files = {option: file for option, file in reports.items() if file not in (None, STDOUT)}
    read, written = [path for path in models if path is not None], [path for path in outputs if path is not None]
    for option, file in files.items():
        assert file is not None
        for what, path in _taken(file, read, written):
            if same(file, path):
                raise Usage("report-is-model", f"{option} would overwrite {what}", where=str(file), hint="name another file")


def require_file(option: str, file: Path | None) -> None:
    """Refuse ``-`` where it would be the name of a file."""
    if file == STDOUT:
        raise Usage("output-is-stdout", f"{option} writes a file, and - stands for stdout", hint=f"{option} with the name of a file")


def same(one: Path, other: Path) -> bool:
    """Whether both are one file, or would be."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


def _taken(file: Path, models: Iterable[Path], outputs: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    """What may not be overwritten. Models are only opened for a report that exists: nothing else can be their data."""
    from qdqtool import api

    files = [found for path in models for found in (sorted(path.rglob("*.onnx")) if path.is_dir() else [path])]
    yield from (("the model", path) for path in files)
    for path in outputs:
        yield "the result", path
        yield "the data of the result", path.with_name(f"{path.name}.data")
        files += [path] if path.exists() else []
    if file.exists():
        yield from (("the data of a model", data) for path in files for data in api.data_files(path))
