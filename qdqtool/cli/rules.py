"""``qdqtool rules``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from qdqtool.cli.output import Output, record_options
from qdqtool.cli.sections import Sectioned
from qdqtool.errors import Usage

if TYPE_CHECKING:
    from qdqtool.rules.descriptions import Description


@click.command("rules", cls=Sectioned)
@click.argument("code", metavar="[CODE]", required=False)
@record_options
@click.pass_obj
def rules(report: Output, /, code: str | None) -> None:
    """List what `validate` looks for, or show the page of one rule.

    Codes 1xx are for the specification, 2xx for values, 3xx for patterns,
    4xx for runtimes.
    """
    from qdqtool import api
    from qdqtool.reports.rules import rule_text, rules_text

    if code is not None:
        found = named(code)
        report.answer(found.to_dict(), lambda width: rule_text(found, width))
        return
    listed = api.rules()
    report.answer({"rules": [rule.to_dict() for rule in listed]}, lambda width: rules_text(listed, width))


def named(code: str) -> Description:
    """The rule of that code or name; Usage for what is none."""
    from qdqtool import api

    listed = api.rules()
    found = [rule for rule in listed if code.upper() == rule.code or code == rule.name]
    group = [rule.code for rule in listed if code and rule.code.startswith(code.upper())]
    if not found and group:
        raise Usage("unknown-rule", f"'{code}' is a group of {len(group)} rules: {', '.join(group)}", hint=f"name one: {group[0]}")
    if not found:
        raise Usage("unknown-rule", f"'{code}' is no rule", hint="`qdqtool rules` lists them")
    return found[0]
