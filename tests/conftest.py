"""What every test may use: the root of the project, its fixtures, the corpus beside it, and the command line as a function."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PLAIN = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}


class Run(NamedTuple):
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str


def furnish(folder: Path) -> None:
    """Put a copy of the fixtures into a folder."""
    shutil.copytree(ROOT / "fixtures", folder / "fixtures", ignore=shutil.ignore_patterns("*.py", "__pycache__"))


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """The folder of frozen models."""
    return ROOT / "fixtures"


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The corpus of real models beside the project."""
    folder = ROOT.parent / "shared" / "corpus"
    if not folder.is_dir():
        pytest.skip("the corpus of real models (../shared/corpus) is not here")
    return folder


@pytest.fixture
def qdqtool(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Run]:
    """Runs the command line at 80 columns, without colour, in an empty folder with a copy of the fixtures."""
    from qdqtool.cli import main

    for name, value in PLAIN.items():
        monkeypatch.setenv(name, value)
    furnish(tmp_path)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Run:
        capfd.readouterr()
        status = main([str(argument) for argument in arguments])
        return Run(status, *capfd.readouterr())

    return run
