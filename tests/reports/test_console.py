from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest
from rich.text import Text

from qdqtool.reports import console
from tests.conftest import ROOT

CODE = "from qdqtool.reports import console\nwith console.working('reading m.onnx'): pass"


def test_text_goes_out_uncut_and_unpadded(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    console.show(lambda width: Text(f"{width} [bold]:smile:[/bold] " + "x" * 50 + "\n"))
    assert capsys.readouterr() == ("30 [bold]:smile:[/bold] " + "x" * 50 + "\n", "")


def test_errors_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    console.show(lambda _: Text("no\n"), err=True)
    assert capsys.readouterr() == ("", "no\n")


def test_no_progress_without_a_terminal() -> None:
    environment = os.environ | {"FORCE_COLOR": "1"}
    run = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("", "")


def test_progress_on_a_terminal() -> None:
    ours, theirs = pty.openpty()
    run = subprocess.run(
        [sys.executable, "-c", CODE], cwd=ROOT, env=os.environ | {"TERM": "xterm"}, stdout=subprocess.PIPE, stderr=theirs, check=True
    )
    os.close(theirs)
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert "reading m.onnx" in shown
    assert run.stdout == b""
