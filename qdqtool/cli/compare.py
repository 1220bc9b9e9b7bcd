"""``qdqtool compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from qdqtool.cli.output import Output, output_options
from qdqtool.cli.parameters import Assignment, Words
from qdqtool.cli.rewriting import FILE, LIBRARY
from qdqtool.cli.sections import Sectioned

STATUS = {"equal": 0, "rounding": 0, "not compared": 3}
SECTIONS = {"Where": ("runtimes", "python", "optimized"), "Inputs": ("inputs", "dims", "seed", "custom_ops")}


@click.command("compare", cls=Sectioned, sections=SECTIONS)
@click.argument("a", metavar="A", type=FILE)
@click.argument("b", metavar="[B]", type=FILE, required=False)
@click.option(
    "--in", "runtimes", metavar="NAME[,...]", type=Words(), default="ort", help="Where B runs: ort, openvino, qnn.  [default: ort]"
)
@click.option("--python", metavar="PATH", type=FILE, help="An interpreter that has that runtime, or another version of it.")
@click.option("--optimized", is_flag=True, help="Let B run with the default optimizations of its runtime.")
@click.option("--inputs", metavar="FILE.npz|DIR", type=FILE, help="Inputs instead of generated ones.")
@click.option("--dim", "dims", metavar="NAME=N", type=Assignment(), multiple=True, help="Size of a symbolic dimension.")
@click.option("--seed", metavar="N", type=click.IntRange(min=0), default=0, help="Seed of the generated inputs.  [default: 0]")
@click.option("--custom-ops", metavar="LIB", type=LIBRARY, multiple=True, help="Library of custom operators.")
@output_options
@click.pass_obj
def compare(report: Output, /, a: Path, b: Path | None, **options: Any) -> int:
    """Say why two models, or two runtimes, give different results.

    A runs in ONNX Runtime, one node at a time. B (or A again, without B) runs
    on the same inputs in each runtime named, and is cut apart at the values
    that both share, so that the first nodes to differ are found and what only
    follows from them is not blamed.

    Exit status 0 when all is equal but for rounding, 1 when not, 3 when one of
    them does not run.
    """
    report.protect(a, b)
    from qdqtool import api
    from qdqtool.reports import console
    from qdqtool.reports.compare import comparison_text

    with console.working(f"comparing {a}"):
        comparison = api.compare(a, b, **(options | {"dims": dict(options["dims"])}))
    record = comparison.to_dict() | {"a": str(a), "b": str(b) if b else None}
    report.answer(
        record, lambda width: comparison_text(comparison, width, first=str(a), second=str(b) if b else "", verbose=report.verbose)
    )
    return STATUS.get(comparison.verdict, 1)
