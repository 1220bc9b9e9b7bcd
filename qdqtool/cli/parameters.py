"""Option values with a form of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
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


class Target(click.ParamType[Any]):
    """``NAME[@VERSION]``, which is judged later."""

    name = "target"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if "," in str(value):
            self.fail(f"one target only, not {value!r}", param, ctx)
        return str(value)


class Words(click.ParamType[Any]):
    """Words separated by commas."""

    name = "words"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        return [word for word in str(value).replace(",", " ").split() if word]


class Format(click.ParamType[Any]):
    """``NAME`` or ``NAME=FILE`` with the name of a report format; the file ``-`` is stdout, as none is."""

    name = "format"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Path | None]:
        from qdqtool.reports import formats

        name, at, file = str(value).partition("=")
        if name not in formats.names():
            self.fail(f"not among {', '.join(formats.names())}", param, ctx)
        if at and not file:
            self.fail(f"no file after {value!r}", param, ctx)
        return name, Path(file) if at and file != "-" else None


def exclusive(options: Mapping[str, Any], first: str, second: str) -> None:
    """Refuse two options that contradict each other."""
    if options[first] and options[second]:
        raise click.UsageError(f"--{first.replace('_', '-')} and --{second.replace('_', '-')} exclude each other")
