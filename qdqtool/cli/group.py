"""The command group: commands stand in a table and are imported when they run, so that help costs nothing."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

import click

from qdqtool import __version__


class Entry(NamedTuple):
    """Where a command lives (``module:function``) and its line in the list of commands."""

    home: str
    summary: str


COMMANDS = {
    "compare": Entry("qdqtool.cli.compare:compare", "Say where two models or runtimes part, and why."),
    "convert": Entry("qdqtool.cli.convert:convert", "Move a quantized model to another opset or dialect, checked."),
    "fold": Entry("qdqtool.cli.fold:fold", "Compute beforehand what follows from constants, checked."),
    "inspect": Entry("qdqtool.cli.inspect:inspect", "Show the opsets and quantized nodes of a model."),
    "rules": Entry("qdqtool.cli.rules:rules", "List what `validate` looks for."),
    "targets": Entry("qdqtool.cli.targets:targets", "Show what `--for` takes, and what is known of each."),
    "validate": Entry("qdqtool.cli.validate:validate", "Say what is wrong with quantized models."),
}


class LazyGroup(click.Group):
    """A group that imports a command only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, function = COMMANDS[cmd_name].home.split(":")
        command: click.Command = getattr(import_module(module), function)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name].summary) for name in self.list_commands(ctx)])


@click.group("qdqtool", cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(__version__, prog_name="qdqtool")
def group() -> None:
    """Move quantized ONNX models between opsets and dialects, exactly.

    Exit status: 0 fine; 1 refused, findings, or models differ; 2 usage or
    unreadable input; 3 the check failed, or was required and could not run;
    130 interrupted.
    """
