"""A command that goes wrong on request, to see what the command line makes of it."""

from __future__ import annotations

import errno

import click

from qdqtool.cli.output import output_options
from qdqtool.errors import Unreadable

ERRORS: dict[str, BaseException] = {
    "interrupt": KeyboardInterrupt(),
    "disk": OSError(errno.ENOSPC, "No space left on device", "out.onnx"),
    "pipe": BrokenPipeError(),
    "unreadable": Unreadable("damaged-model", "the model is cut off", hint="fetch it again"),
}


@click.command("fail")
@click.argument("how")
@output_options
def fail(how: str) -> None:
    raise ERRORS[how]
