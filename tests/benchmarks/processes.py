"""Programs as candidates: seconds and peak memory of a whole process, what it wrote, and why it failed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

FAILED = float("inf")


@dataclass(slots=True)
class Runs:
    """The runs of one command, which gets the file to write as its last argument; after a failure there are no more."""

    command: Sequence[str]
    limit: float
    folder: Path
    failure: str = ""
    peaks: list[float] = field(default_factory=list)
    left: int = 0
    size: int = 0

    def __call__(self) -> float:
        """One run; its seconds."""
        if self.failure:
            return FAILED
        with TemporaryDirectory(dir=self.folder) as place:
            result = Path(place) / "result.onnx"
            seconds, peak, self.failure = measured([*self.command, str(result)], self.limit)
            if self.failure:
                return FAILED
            if not self.peaks:
                self.left = int(output("-m", "tests.benchmarks.remaining", str(result)))
                self.size = sum(path.stat().st_size for path in Path(place).iterdir())
            self.peaks.append(peak)
        return seconds


def measured(command: Sequence[str], limit: float) -> tuple[float, float, str]:
    """Seconds, peak of the resident memory in MiB, and why it failed."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    timer = threading.Timer(limit, process.kill)
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    failure = f"stopped at {limit:.0f} s" if seconds >= limit else f"exit status {process.returncode}" if process.returncode else ""
    return seconds, usage.ru_maxrss / 1024, failure


def output(*arguments: str, python: str = sys.executable) -> str:
    """What a Python run prints."""
    return subprocess.run([python, *arguments], capture_output=True, text=True, check=True).stdout
