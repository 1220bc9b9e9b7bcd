"""Commands whose help lists options under headings, and whose options are given once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import click

REST = "Report"


class Sectioned(click.Command):
    """A command with options under headings; those that no heading names come last.

    An option that holds one value may be given once only: of two values one would be lost without a word.
    """

    def __init__(self, *arguments: Any, sections: Mapping[str, Sequence[str]] = MappingProxyType({}), **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.sections = sections

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = Counter(self.make_parser(ctx).parse_args(list(args))[2])
        for option in (option for option, times in given.items() if times > 1 and _single(option)):
            raise click.UsageError(f"{' / '.join(option.opts + option.secondary_opts)} was given more than once", ctx)
        return super().parse_args(ctx, args)

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


def _single(parameter: click.Parameter) -> bool:
    """Whether what comes last would win; a flag only says the same again."""
    return isinstance(parameter, click.Option) and not parameter.multiple and (not parameter.is_flag or bool(parameter.secondary_opts))
