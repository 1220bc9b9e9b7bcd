"""``qdqtool fold``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qdqtool.cli.output import Output
from qdqtool.cli.rewriting import FILE, SECTIONS, protect, rewriting_options, settle
from qdqtool.cli.sections import Sectioned

if TYPE_CHECKING:
    from rich.text import Text

FOLDS = {
    "What to fold": ("weights", "bias", "quantize", "pairs", "scales", "collapse", "move"),
    "Which of these": ("only", "skip", "max_growth", "allow", "tidy"),
}


@click.command("fold", cls=Sectioned, sections=FOLDS | SECTIONS)
@click.argument("model", metavar="IN", type=FILE)
@click.option("--weights", is_flag=True, help="DequantizeLinear of constants to real values, which makes the file larger.")
@click.option("--bias", is_flag=True, help="The same for int32 constants only.")
@click.option("--quantize/--no-quantize", default=True, help="QuantizeLinear of constants to codes.  [default: on]")
@click.option("--pairs/--no-pairs", default=True, help="Steps there and back that cancel for every code.  [default: on]")
@click.option("--scales/--no-scales", default=True, help="Arithmetic on constant scales and zero points.  [default: on]")
@click.option("--collapse", is_flag=True, help="Scales that are all equal, told once.")
@click.option("--move", is_flag=True, help="Transpose, Reshape, Gather ... of a dequantized constant, done on its codes.")
@click.option(
    "--only", metavar="PATTERN", multiple=True, help="Only nodes that fit: name:GLOB, op:GLOB, type:GLOB, size:>1MB, joined by commas."
)
@click.option("--skip", metavar="PATTERN", multiple=True, help="No node that fits.")
@click.option("--max-growth", metavar="SIZE", help="How much --weights and --bias may add: 20MB, 10%; cheapest first.")
@click.option("--allow", type=click.Choice(["approximate"]), help="Also drop the inner half of Q, DQ, Q with other parameters.")
@click.option("--tidy", is_flag=True, help="Also remove what nobody reads.")
@rewriting_options
@click.pass_obj
def fold(report: Output, /, model: Path, **options: Any) -> None:
    """Compute now what a quantized model would compute from constants.

    Without options only what keeps the model quantized and the file small:
    constants are quantized, steps that undo each other go, scales are computed.
    The rest must be asked for. Whatever the size of the weights, memory stays
    small. Every fold ends with a comparison of the result with the original.
    """
    protect(report, model, options)
    written, unchecked = settle(model, options)
    from qdqtool import api
    from qdqtool.reports.progress import progress

    with progress(f"folding {model}") as advance:
        folding = api.fold(model, progress=advance, **options)

    def text(width: int) -> Text:
        from qdqtool.reports.fold import folding_text

        return folding_text(folding, width, source=str(model), written=written, unchecked=unchecked, verbose=report.verbose)

    report.answer(folding.to_dict() | {"input": str(model), "output": str(written) if written else None}, text, written=folding.files)
