"""``qdqtool convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from qdqtool.cli.output import Output
from qdqtool.cli.parameters import IrVersion, Target, exclusive
from qdqtool.cli.rewriting import FILE, SECTIONS, protect, rewriting_options, settle
from qdqtool.cli.sections import Sectioned
from qdqtool.errors import Usage

SINGLE = ("ai.onnx", "com.microsoft", "arithmetic", "qdq")
FUSED = ("fakequantize", "gatherblockquantized", "matmulinteger", "matmulnbits", "qoperator")
TARGET = {"Target": ("opset", "target", "to", "ir_version"), "How": ("exact", "allow", "prefer", "simplify", "weights", "codes")}


@click.command("convert", cls=Sectioned, sections=TARGET | SECTIONS)
@click.argument("model", metavar="IN", type=FILE)
@click.option("--opset", metavar="N", type=int, help="Target opset of the default domain.")
@click.option("--for", "target", metavar="NAME[@VERSION]", type=Target(), help="What the result shall run in: ort@1.17, ort, opset@17 ...")
@click.option("--to", metavar="DIALECT[,...]", help=f"Steps as {', '.join(SINGLE)} (one), or fused to {', '.join(FUSED)}.")
@click.option("--ir-version", metavar="N|keep", type=IrVersion(), help="Set or keep ir_version instead of choosing it by the opset.")
@click.option("--exact", is_flag=True, help="Refuse what is equal only up to rounding.")
@click.option("--allow", type=click.Choice(["approximate"]), help="Accept rewrites that only come near.")
@click.option("--prefer", type=click.Choice(["bytes", "nodes"]), default="bytes", help="What to keep few of.  [default: bytes]")
@click.option("--simplify", is_flag=True, help="Also turn decomposed arithmetic back into quantize/dequantize nodes.")
@click.option(
    "--weights",
    type=click.Choice(["direct", "transposed"]),
    help="How weights of split operators lie before a MatMul; --to ai.onnx or qdq splits all.  [default: as before fusing, or direct]",
)
@click.option(
    "--codes",
    type=click.Choice(["signed", "unsigned"]),
    help="How codes of split operators are stored.  [default: as before fusing, or signed if without zero points]",
)
@rewriting_options
@click.pass_obj
def convert(report: Output, /, model: Path, **options: Any) -> None:
    """Move a quantized model to another opset or dialect.

    Every conversion ends with a comparison of the result with the original in
    ONNX Runtime. What the target cannot express is refused with every reason,
    and then nothing is written.
    """
    protect(report, model, options)
    exclusive(options, "exact", "allow")
    if all(options[name] is None for name in ("opset", "to", "target")):
        raise _no_target(model)
    written, unchecked = settle(model, options)
    from qdqtool import api
    from qdqtool.reports import console
    from qdqtool.reports.text import conversion_text

    with console.working(f"converting {model}"):
        conversion = api.convert(model, **options)
    report.answer(
        conversion.to_dict() | {"input": str(model), "output": str(written) if written else None},
        lambda width: conversion_text(conversion, width, source=str(model), written=written, unchecked=unchecked, verbose=report.verbose),
        written=conversion.files,
    )


def _no_target(model: Path) -> Usage:
    """The error for a missing target: what the model holds, and one target that would work."""
    from qdqtool import api
    from qdqtool.reports.inspection import headline, suggestion

    inspection = api.inspect(model)
    hint = f"for example {suggestion(inspection)}"
    return Usage("no-target", "no target: say --opset N, --to DIALECT or --for NAME", where=headline(inspection, str(model)), hint=hint)
