"""Where the findings of ``validate`` go: one format to stdout, others to files, and nothing over a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qdqtool.cli.clashes import require_apart, require_file
from qdqtool.cli.output import Output
from qdqtool.errors import Usage
from qdqtool.reports.json import STDOUT

if TYPE_CHECKING:
    from qdqtool.validation import Validation

Outputs = Sequence[tuple[str, Path | None]]
"""Formats with their files; None is stdout."""

SHOWN = ("", "text")
"""What is text on stdout: nobody else asked for it, or it was asked for."""


def outputs(formats: Outputs, output: Path | None) -> Outputs:
    """Each format with its file; stdout, which one can have, is text when nobody else asks for it."""
    output = None if output == STDOUT else output
    bare = list(dict.fromkeys(name for name, file in formats if file is None))
    if len(bare) > 1:
        raise Usage("several-formats", f"{' and '.join(bare)} cannot both go to one place", hint=f"--format {bare[-1]}=FILE")
    found = [pair for pair in formats if pair[1] is not None] + [(name, output) for name in bare]
    if not bare and output is not None:
        found.append(("text", output))
    _require_places(file for _, file in found if file is not None)
    return found if any(file is None for _, file in found) else [*found, ("", None)]


def _require_places(files: Iterable[Path]) -> None:
    for file, times in Counter(files).items():
        require_folder(file)
        if times > 1:
            raise Usage("several-formats", f"{times} formats cannot all go to one file", where=str(file), hint="name another file")


def require_folder(file: Path) -> None:
    """Usage when the folder of a file to write is not there."""
    if not file.parent.is_dir():
        raise Usage("no-such-folder", f"the folder {file.parent} does not exist", where=str(file))


def protect(models: Sequence[Path], outputs: Outputs, output: Path | None, options: Mapping[str, Any]) -> None:
    """Refuse to write findings, or a baseline, over a model, and what is no report to stdout."""
    for option, file in (("--fixed", options["fixed"]), ("--write-baseline", options["write_baseline"])):
        require_file(option, file)
    named = {"--output" if file == output else f"--format {name}={file}": file for name, file in outputs if file is not None}
    for option in ("baseline", "write_baseline", "config"):
        if options[option] in named.values():
            message = f"findings would overwrite the file of --{option.replace('_', '-')}"
            raise Usage("report-is-setting", message, where=str(options[option]), hint="name another file")
    require_apart(named | {"--write-baseline": options["write_baseline"]}, models, [options["fixed"]])


def write(report: Output, validation: Validation, outputs: Outputs, *, statistics: bool) -> None:
    """Findings to files and stdout; what could not be read is told on stderr."""
    from qdqtool.reports import console, formats
    from qdqtool.reports.validation import validation_text

    for name, file in outputs:
        if file is not None:
            file.write_text(formats.writer(name)(validation), encoding="utf-8")
        elif name not in SHOWN:
            click.echo(formats.writer(name)(validation), nl=False)
        elif report.verbosity >= 0:
            console.show(lambda width: validation_text(validation, width, verbose=report.verbose, statistics=statistics, failures=False))
    for error in validation.errors.values():
        report.fail(error)


def write_noted(report: Output, validation: Validation, outputs: Outputs, file: Path | None) -> None:
    """Say that a baseline was written, and of how much."""
    if file is not None and report.verbosity >= 0:
        shown = any(name in SHOWN and place is None for name, place in outputs)
        from qdqtool.reports.layout import count

        click.echo(f"written {file}, {count(len(validation.known), 'finding')}", err=not shown)
