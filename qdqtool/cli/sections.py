"""Help that lists options under headings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

REST = "Report"


class Sectioned(click.Command):
    """A command with options under headings; those that no heading names come last."""

    def __init__(self, *arguments: Any, sections: Mapping[str, Sequence[str]], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        heading = {name: title for title, names in self.sections.items() for name in names}
        lines: dict[str, list[tuple[str, str]]] = {title: [] for title in (*self.sections, REST)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                lines[heading.get(parameter.name or "", REST)].append(record)
        for title, records in lines.items():
            with formatter.section(title):
                formatter.write_dl(records)
