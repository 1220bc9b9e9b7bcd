"""``qdqtool rules``."""

from __future__ import annotations

import click

from qdqtool.cli.output import Output, output_options


@click.command("rules")
@output_options
@click.pass_obj
def rules(report: Output, /) -> None:
    """List what `validate` looks for.

    Codes 1xx are for the specification, 2xx for values, 3xx for patterns,
    4xx for runtimes.
    """
    from qdqtool import api
    from qdqtool.reports.rules import rules_text

    found = api.rules()
    report.answer({"rules": [rule.to_dict() for rule in found]}, lambda width: rules_text(found, width))
