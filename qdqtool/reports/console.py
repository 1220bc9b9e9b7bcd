"""Where text goes: rich for colour only, since it pads and wraps in ways that read badly in a log."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from rich.console import Console
from rich.text import Text

WIDEST = 100


def stream(*, err: bool) -> Console:
    """stdout or stderr."""
    return Console(stderr=err, highlight=False, markup=False, emoji=False, soft_wrap=True)


def show(text: Callable[[int], Text], *, err: bool = False) -> None:
    """Print what `text` makes for the width at hand (80 where there is no terminal)."""
    console = stream(err=err)
    console.print(text(min(console.width, WIDEST)), end="")


def working(what: str) -> AbstractContextManager[object]:
    """A moving line on stderr while something takes long; nothing where stderr is no terminal."""
    # rich takes FORCE_COLOR for a terminal; colour in a log is fine, a spinner is not.
    return stream(err=True).status(Text(what)) if sys.stderr.isatty() else nullcontext()
