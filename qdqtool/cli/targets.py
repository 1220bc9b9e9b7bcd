"""``qdqtool targets``."""

from __future__ import annotations

import click

from qdqtool.cli.output import Output, record_options
from qdqtool.cli.sections import Sectioned


@click.command("targets", cls=Sectioned)
@click.argument("name", metavar="[NAME[@VERSION]]", required=False)
@record_options
@click.pass_obj
def targets(report: Output, /, name: str | None) -> None:
    """Show what --for takes, or what is known of one target.

    Each line names its source: measured in that runtime, or read in its
    documentation or code.
    """
    from qdqtool import api
    from qdqtool.reports.targets import target_text, targets_text

    records = api.profiles(name)
    if name is None:
        report.answer({"targets": records}, lambda width: targets_text(records, width))
    else:
        report.answer(records[0], lambda width: target_text(records[0], width))
