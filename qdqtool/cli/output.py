"""What a run prints and where: text on stdout unless quiet, the full record as JSON on request, errors on stderr."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from qdqtool.cli.clashes import require_apart, same
from qdqtool.errors import QdqtoolError, Usage

if TYPE_CHECKING:
    from rich.text import Text

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(slots=True)
class Output:
    """The output options of the running command; `verbosity` is -1 for quiet and 1 for verbose."""

    verbosity: int = 0
    json: Path | None = None

    @property
    def verbose(self) -> bool:
        return self.verbosity > 0

    def protect(self, *models: Path | None, outputs: Sequence[Path | None] = ()) -> None:
        """Refuse to write the record over a model; must come before whatever else can go wrong, since errors are written too."""
        try:
            require_apart({"--json": self.json}, models, outputs)
        except Usage:
            self.json = None
            raise

    def answer(self, record: dict[str, Any], text: Callable[[int], Text], *, written: Sequence[Path] = ()) -> None:
        """Give the record as JSON where asked, and as text unless quiet; the text leaves stdout to the JSON.

        `written` are the model and the data files that the run wrote.
        """
        from qdqtool.reports import json

        try:
            self._spare(written)
            json.write(record, self.json)
        except OSError as error:
            if self.json == json.STDOUT:
                raise
            raise _unreported(self.json, written, error.strerror or str(error)) from error
        if self.verbosity >= 0:
            from qdqtool.reports import console

            console.show(text, err=self.json == json.STDOUT)

    def fail(self, error: QdqtoolError) -> int:
        """Report an error; returns the exit status."""
        from qdqtool.reports import console, errors, json

        with suppress(OSError):  # the file may be what went wrong
            json.write(errors.record(error), self.json)
        console.show(lambda width: errors.text(error, width, verbose=self.verbose), err=True)
        return error.status

    def _spare(self, written: Sequence[Path]) -> None:
        """Data files of the result have names that nobody knows before."""
        file = self.json
        if file is not None and any(same(path, file) for path in written):
            self.json = None
            raise _unreported(file, written, "it is a file of the result")


def _unreported(file: Path | None, written: Sequence[Path], why: str) -> QdqtoolError:
    message = f"{written[0]} was written, the report could not be" if written else "the report could not be written"
    return QdqtoolError("report-not-written", message, where=str(file), why=why, hint="name another file")


def output_options(command: Command) -> Command:
    """Add ``--json``, ``-q`` and ``-v``, which end up in the run's `Output`."""
    return _JSON(quiet_options(command))


def record_options(command: Command) -> Command:
    """Add ``--json`` and ``-q`` only, where there is nothing more to tell."""
    return _JSON(_QUIET(command))


def quiet_options(command: Command) -> Command:
    """Add ``-q`` and ``-v`` only."""
    return _QUIET(_VERBOSE(command))


def _set_json(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    if value is not None and not value.parent.is_dir():
        raise click.BadParameter(f"the folder {value.parent} does not exist", ctx, parameter)
    ctx.ensure_object(Output).json = value


def _set_verbosity(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    output = ctx.ensure_object(Output)
    if value and output.verbosity:
        raise click.UsageError("--quiet and --verbose exclude each other", ctx)
    if value:
        output.verbosity = -1 if parameter.name == "quiet" else 1


_JSON = click.option(
    "--json",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    callback=_set_json,
    expose_value=False,
    is_eager=True,
    help="Write the full record to FILE as JSON; - for stdout.",
)
_QUIET = click.option("-q", "--quiet", is_flag=True, callback=_set_verbosity, expose_value=False, is_eager=True, help="Print errors only.")
_VERBOSE = click.option(
    "-v", "--verbose", is_flag=True, callback=_set_verbosity, expose_value=False, is_eager=True, help="Print every place and note."
)
