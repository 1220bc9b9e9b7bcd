"""A line that moves while something takes long: what is being done, then bytes and their rate.

Only on a terminal, and rich is imported only then.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

PATIENCE = 0.5
"""Seconds of computing before a bar appears."""


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Gives what to call with the bytes that are done and those there are; None where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    line = Line(what)
    try:
        yield line.advance
    finally:
        line.stop()


class Line:
    """A spinner, but a bar from when bytes have come for some time until all are there."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._since: float | None = None
        self._bar: Progress | None = None
        self._live: Any = self._spinner()
        self._live.start()

    def advance(self, done: int, total: int) -> None:
        """Show that `done` of `total` bytes are computed."""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        if self._bar is None and done < total and now - self._since > PATIENCE:
            self._bar = bar()
            self._bar.add_task(self._what, total=total, completed=done)
            self._turn(self._bar)
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done)
        if self._bar is not None and done >= total:
            self._bar = None
            self._turn(self._spinner())

    def stop(self) -> None:
        """Leave the terminal as it was."""
        self._live.stop()

    def _spinner(self) -> Any:
        from rich.text import Text

        return _stderr().status(Text(self._what))

    def _turn(self, live: Any) -> None:
        """rich draws one moving thing at a time."""
        self._live.stop()
        self._live = live
        live.start()


def bar() -> Progress:
    """Name, bar, bytes, rate, and the time that is left."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    return Progress(*columns, console=_stderr(), transient=True)


def _stderr() -> Console:
    from qdqtool.reports import console

    return console.stream(err=True)
