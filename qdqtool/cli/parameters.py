"""Option values with a form of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import click


class Assignment(click.ParamType[Any]):
    """``NAME=N`` with a positive N."""

    name = "assignment"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        name, _, number = str(value).partition("=")
        if not name or not number.isdecimal() or int(number) < 1:
            self.fail(f"{value!r} is not NAME=N with N at least 1", param, ctx)
        return name, int(number)


class IrVersion(click.ParamType[Any]):
    """A number, or ``keep``."""

    name = "ir-version"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | Literal["keep"]:
        if value == "keep":
            return "keep"
        if not str(value).isdecimal():
            self.fail(f"{value!r} is neither a number nor 'keep'", param, ctx)
        return int(value)


def exclusive(options: Mapping[str, Any], first: str, second: str) -> None:
    """Refuse two options that contradict each other."""
    if options[first] and options[second]:
        raise click.UsageError(f"--{first.replace('_', '-')} and --{second.replace('_', '-')} exclude each other")
