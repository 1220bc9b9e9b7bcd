"""The command line: `main` runs a command and turns whatever goes wrong into one message and an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from qdqtool.cli.group import group
from qdqtool.cli.output import Output
from qdqtool.errors import QdqtoolError

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    output = Output()
    _open_streams()
    try:
        status = group.main(args=None if arguments is None else list(arguments), prog_name="qdqtool", standalone_mode=False, obj=output)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except QdqtoolError as error:
        return output.fail(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return output.fail(QdqtoolError("file-access", error.strerror or str(error), where=str(error.filename or "")))


def _open_streams() -> None:
    """A closed stdout or stderr (``>&-``) takes what is printed without a word, and its number cannot become that of a model's file."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for the rest of the run
