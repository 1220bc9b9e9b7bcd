"""What all commands that write a model share: where the result goes, and how it is compared with the original."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from qdqtool.cli.clashes import require_file
from qdqtool.cli.output import Output, output_options
from qdqtool.cli.parameters import Assignment, Words, exclusive
from qdqtool.errors import Usage

Command = TypeVar("Command", bound=Callable[..., Any])

FILE = click.Path(path_type=Path, readable=False)
LIBRARY = click.Path(path_type=Path, exists=True, dir_okay=False)
PLACE = (
    click.option("-o", "--output", metavar="OUT", type=FILE, help="The model to write."),
    click.option("--external-data", metavar="NAME", help="Put large tensors into a file of this name beside OUT."),
    click.option("--in-place", is_flag=True, help="Allow OUT to be IN, which is then replaced."),
    click.option("--dry-run", is_flag=True, help="Only say what would change."),
)
CHECK = (
    click.option("--no-check", is_flag=True, help="Do not compare the result with the original."),
    click.option("--require-check", is_flag=True, help="Fail when the comparison cannot run."),
    click.option("--inputs", metavar="FILE.npz|DIR", type=FILE, help="Inputs for the comparison instead of generated ones."),
    click.option(
        "--dim", "dims", metavar="NAME=N", type=Assignment(), multiple=True, help="Size of a symbolic dimension in the comparison."
    ),
    click.option("--seed", metavar="N", type=click.IntRange(min=0), default=0, help="Seed of the generated inputs.  [default: 0]"),
    click.option("--custom-ops", metavar="LIB", type=LIBRARY, multiple=True, help="Library of custom operators for the comparison."),
    click.option(
        "--check-with", metavar="NAME[,...]", type=Words(), default="", help="Compare in these runtimes, too: openvino, qnn, ort."
    ),
    click.option("--check-with-python", metavar="PATH", type=FILE, help="An interpreter that has them, or another ONNX Runtime."),
)
SECTIONS = {
    "Output": ("output", "external_data", "in_place", "dry_run"),
    "Check": ("no_check", "require_check", "inputs", "dims", "seed", "custom_ops", "check_with", "check_with_python"),
}


def rewriting_options(command: Command) -> Command:
    """Add all of them, and what is printed."""
    command = output_options(command)
    for option in reversed((*PLACE, *CHECK)):
        command = option(command)
    return command


def protect(report: Output, model: Path, options: Mapping[str, Any]) -> None:
    """Refuse to write the report over the model or the result."""
    output: Path | None = options["output"]
    data = output.parent / options["external_data"] if output is not None and options["external_data"] else None
    report.protect(model, outputs=(output, data))


def settle(model: Path, options: dict[str, Any]) -> tuple[Path | None, str]:
    """Turn these options into those of ``api``; returns what will be written, if anything, and why nothing is checked.

    Raises
    ------
    Usage
        The output makes no sense; judged before any work is done.
    """
    for needless in ("require_check", "check_with", "check_with_python"):
        exclusive(options, "no_check", needless)
    output = _output(model, options)
    dry_run, unchecked = options.pop("dry_run"), "--no-check" if options.pop("no_check") else ""
    written, unchecked = (None, "this is a dry run") if dry_run else (output, unchecked)
    options |= {"output": written, "check": not unchecked, "dims": dict(options["dims"])}
    options["allow_approximate"] = options.pop("allow") is not None
    return written, unchecked


def _output(model: Path, options: dict[str, Any]) -> Path | None:
    output: Path | None = options.pop("output")
    in_place = options["in_place"]
    if in_place:
        output = output or model
    if output is None:
        if options["dry_run"]:
            return None
        raise Usage("no-output", "no output: say where the result goes", hint="-o OUT, or --in-place to replace IN")
    require_file("-o", output)
    if output.exists() and model.exists() and output.samefile(model) and not in_place:
        raise Usage("output-is-input", "the output is the input", where=str(output), hint="--in-place replaces it")
    if output.exists() and not (output.is_file() or output.is_dir()):
        raise Usage("output-is-no-file", "the output is a device or pipe, which publishing would replace", where=str(output))
    if not output.parent.is_dir():
        raise Usage("no-such-folder", "the folder of the output does not exist", where=str(output.parent))
    return output
