from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest
from rich.console import Console

from qdqtool.reports import console, progress


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A terminal that remembers what was drawn; a bar appears at once."""
    drawn = io.StringIO()
    monkeypatch.setattr(console, "stream", lambda *, err: Console(file=drawn, force_terminal=True, width=100, color_system=None))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    return drawn


def shown(terminal: io.StringIO, act: Callable[[progress.Line], None]) -> str:
    line = progress.Line("folding m[1].onnx")
    try:
        act(line)
    finally:
        line.stop()
    return terminal.getvalue()


def test_without_a_terminal_nobody_asks_for_progress() -> None:
    with progress.progress("folding m.onnx") as advance:
        assert advance is None


def test_a_terminal_is_told(terminal: io.StringIO) -> None:
    with progress.progress("folding m[1].onnx") as advance:
        assert advance is not None
        advance(2_000_000, 8_000_000)
    assert "2.0/8.0 MB" in terminal.getvalue()
    assert "folding m[1].onnx" in terminal.getvalue()


def test_short_work_has_no_bar(terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 1000.0)
    assert "MB" not in shown(terminal, lambda line: line.advance(1_000_000, 8_000_000))


def test_the_bar_goes_when_all_is_done(terminal: io.StringIO) -> None:
    def act(line: progress.Line) -> None:
        line.advance(1_000_000, 8_000_000)
        assert line._bar is not None
        line.advance(8_000_000, 8_000_000)
        assert line._bar is None

    drawn = shown(terminal, act)
    assert "8.0/8.0 MB" in drawn
    assert drawn.rindex("8.0/8.0 MB") < drawn.rindex("folding m[1].onnx")


def test_a_rate_is_shown(terminal: io.StringIO) -> None:
    def act(line: progress.Line) -> None:
        for done in range(1, 5):
            line.advance(done * 1_000_000, 8_000_000)

    assert "B/s" in shown(terminal, act)
