"""``qdqtool inspect``."""

from __future__ import annotations

from pathlib import Path

import click

from qdqtool.cli.output import Output, output_options
from qdqtool.cli.sections import Sectioned


@click.command("inspect", cls=Sectioned)
@click.argument("model", metavar="IN", type=click.Path(path_type=Path, readable=False))
@output_options
@click.pass_obj
def inspect(report: Output, /, model: Path) -> None:
    """Show the opsets and quantized nodes of a model.

    Weights are not read.
    """
    report.protect(model)
    from qdqtool import api
    from qdqtool.reports.inspection import inspection_text

    inspection = api.inspect(model)
    report.answer(inspection.to_dict(), lambda width: inspection_text(inspection, width, source=str(model), verbose=report.verbose))
