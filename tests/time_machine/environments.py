"""Throwaway virtual environments, one for each measured wheel of ONNX Runtime."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

WORKER = Path(__file__).with_name("worker.py")
OLD_NUMPY = "numpy==1.26.4"
WHEELS = {
    "1.15": ("onnxruntime==1.15.1", OLD_NUMPY),
    "1.17": ("onnxruntime==1.17.3", OLD_NUMPY),
    "1.19": ("onnxruntime==1.19.2", OLD_NUMPY),
    "1.22": ("onnxruntime==1.22.1", "numpy>=2"),
    "1.26": ("onnxruntime==1.26.0", "numpy>=2"),
    "1.32": ("onnxruntime==1.32.0", "numpy>=2"),
}
"""Wheels before 1.19 were built against numpy 1."""

Job = dict[str, Any]


def interpreter(folder: Path, version: str) -> Path:
    """The Python of an environment below `folder` that holds the wheel of `version`; made when it is not there."""
    home = folder / f"ort-{version}"
    python = home / "bin" / "python"
    marker = home / "ready"
    if not marker.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *WHEELS[version]], check=True)
        marker.touch()
    return python


def answers(python: Path, jobs: Iterable[Job], folder: Path) -> Iterator[Job]:
    """What the worker says to each job, in order; a job that kills it is answered with ``crash``, and the rest goes on."""
    waiting = list(jobs)
    while waiting:
        said = _batch(python, waiting, folder)
        yield from said
        waiting = waiting[len(said) :]
        if waiting:
            yield {"id": waiting.pop(0)["id"], "stage": "crash", "error": "the process died"}


def _batch(python: Path, jobs: list[Job], folder: Path) -> list[Job]:
    asked, told = folder / "jobs.jsonl", folder / "answers.jsonl"
    asked.write_text("".join(json.dumps(job) + "\n" for job in jobs), encoding="utf-8")
    told.write_text("", encoding="utf-8")
    subprocess.run([str(python), str(WORKER), str(asked), str(told)], check=False, capture_output=True)
    return [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines()]
