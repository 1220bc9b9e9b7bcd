"""``qdqtool convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from qdqtool.cli.output import Output, output_options
from qdqtool.cli.parameters import Assignment, IrVersion, exclusive
from qdqtool.errors import Usage

FILE = click.Path(path_type=Path)


@click.command("convert")
@click.argument("model", metavar="IN", type=FILE)
@click.option("-o", "--output", metavar="OUT", type=FILE, help="The model to write.")
@click.option("--opset", metavar="N", type=int, help="Target opset of the default domain.")
@click.option("--for", "target", metavar="NAME[@VERSION]", help="What the result shall run in: ort@1.17, ort, opset@17 ...")
@click.option("--to", metavar="DIALECT", help="Target dialect: ai.onnx or com.microsoft.")
@click.option("--exact", is_flag=True, help="Refuse what is equal only up to rounding.")
@click.option("--allow", type=click.Choice(["approximate"]), help="Accept rewrites that only come near.")
@click.option("--prefer", type=click.Choice(["bytes", "nodes"]), default="bytes", help="What to keep few of.  [default: bytes]")
@click.option("--simplify", is_flag=True, help="Also turn decomposed arithmetic back into quantize/dequantize nodes.")
@click.option("--ir-version", metavar="N|keep", type=IrVersion(), help="Set or keep ir_version instead of choosing it by the opset.")
@click.option("--external-data", metavar="NAME", help="Put large tensors into a file of this name beside OUT.")
@click.option("--in-place", is_flag=True, help="Allow OUT to be IN, which is then replaced.")
@click.option("--dry-run", is_flag=True, help="Only say what would change.")
@click.option("--no-check", is_flag=True, help="Do not compare the result with the original.")
@click.option("--require-check", is_flag=True, help="Fail when the comparison cannot run.")
@click.option("--inputs", metavar="FILE.npz|DIR", type=FILE, help="Inputs for the comparison instead of generated ones.")
@click.option("--dim", "dims", metavar="NAME=N", type=Assignment(), multiple=True, help="Size of a symbolic dimension in the comparison.")
@click.option("--seed", metavar="N", type=click.IntRange(min=0), default=0, help="Seed of the generated inputs.  [default: 0]")
@click.option(
    "--custom-ops",
    metavar="LIB",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    help="Library of custom operators for the comparison.",
)
@output_options
@click.pass_obj
def convert(report: Output, /, model: Path, **options: Any) -> None:
    """Move a quantized model to another opset or dialect.

    Every conversion ends with a comparison of the result with the original in
    ONNX Runtime. What the target cannot express is refused with every reason,
    and then nothing is written.
    """
    exclusive(options, "exact", "allow")
    exclusive(options, "no_check", "require_check")
    if all(options[name] is None for name in ("opset", "to", "target")):
        raise _no_target(model)
    output = _output(model, options)
    from qdqtool import api
    from qdqtool.reports import console
    from qdqtool.reports.text import conversion_text

    dry_run, unchecked = options.pop("dry_run"), "--no-check" if options.pop("no_check") else ""
    unchecked = "this is a dry run" if dry_run else unchecked
    options |= {"allow_approximate": options.pop("allow") is not None, "dims": dict(options["dims"])}
    with console.working(f"converting {model}"):
        conversion = api.convert(model, check=not unchecked, output=None if dry_run else output, **options)
    written = None if dry_run else output
    report.answer(
        conversion.to_dict() | {"input": str(model), "output": str(written) if written else None},
        lambda width: conversion_text(conversion, width, source=str(model), written=written, unchecked=unchecked, verbose=report.verbose),
    )


def _output(model: Path, options: dict[str, Any]) -> Path | None:
    """The output path, if any, judged before any work is done."""
    output: Path | None = options.pop("output")
    in_place = options.pop("in_place")
    if in_place:
        output = output or model
    if output is None:
        if options["dry_run"]:
            return None
        raise Usage("no-output", "no output: say where the result goes", hint="-o OUT, or --in-place to replace IN")
    if output.exists() and model.exists() and output.samefile(model) and not in_place:
        raise Usage("output-is-input", "the output is the input", where=str(output), hint="--in-place replaces it")
    if output.exists() and not (output.is_file() or output.is_dir()):
        raise Usage("output-is-no-file", "the output is a device or pipe, which publishing would replace", where=str(output))
    if not output.parent.is_dir():
        raise Usage("no-such-folder", "the folder of the output does not exist", where=str(output.parent))
    return output


def _no_target(model: Path) -> Usage:
    """The error for a missing target: what the model holds, and one target that would work."""
    from qdqtool import api
    from qdqtool.reports.inspection import headline, suggestion

    inspection = api.inspect(model)
    hint = f"for example {suggestion(inspection)}"
    return Usage("no-target", "no target: say --opset N, --to DIALECT or --for NAME", where=headline(inspection, str(model)), hint=hint)
