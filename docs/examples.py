"""The examples of README.md and of these pages: what they say is run, and what they show is what it printed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
CONSOLE = re.compile(r"(?<=```console\n)(.*?)(?=```\n)", re.DOTALL)
PYTHON = re.compile(r"(?<=```python\n)(.*?)(?=```\n)", re.DOTALL)
SETUP = re.compile(r"(?<=```sh\n)(.*?)(?=```\n)", re.DOTALL)


@contextmanager
def workspace() -> Iterator[Path]:
    """An empty folder with a copy of the fixtures, where examples run."""
    with TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "fixtures", Path(folder) / "fixtures", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
        yield Path(folder)


def run(arguments: list[str], folder: Path) -> str:
    """What a Python run prints at 80 columns, without colour; its errors too."""
    plain = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=folder, env=os.environ | plain, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    ).stdout


def replayed(text: str) -> str:
    """`text` with every console block showing what its commands print now."""
    with workspace() as folder:
        return CONSOLE.sub(lambda block: _replay(block[1], folder), text)


def _replay(block: str, folder: Path) -> str:
    shown = ""
    for line in block.splitlines():
        if line.startswith("$ qdqtool "):
            shown += f"{line}\n{run(['-m', 'qdqtool', *shlex.split(line)[2:]], folder)}"
    return shown
