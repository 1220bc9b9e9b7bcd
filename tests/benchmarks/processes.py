"""Programs as candidates: seconds and peak memory of a whole process, what it wrote, and why it failed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
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
    busy: list[float] = field(default_factory=list)
    left: int = 0
    size: int = 0

    def __call__(self) -> float:
        """One run; its seconds."""
        if self.failure:
            return FAILED
        with TemporaryDirectory(dir=self.folder) as place:
            result = Path(place) / "result.onnx"
            seconds, busy, peak, self.failure = measured([*self.command, str(result)], self.limit, compiled(str(self.folder)))
            if self.failure:
                return FAILED
            if not self.peaks:
                self.left = int(output("-m", "tests.benchmarks.remaining", str(result)))
                self.size = sum(path.stat().st_size for path in Path(place).iterdir())
            self.peaks.append(peak)
            self.busy.append(busy)
        return seconds


def compiled(folder: str) -> dict[str, str]:
    """The environment of programs that find their modules compiled after the first run, as once installed."""
    environment = os.environ | {"PYTHONPYCACHEPREFIX": folder}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def measured(command: Sequence[str], limit: float, environment: Mapping[str, str] | None = None) -> tuple[float, float, float, str]:
    """Seconds, seconds of processors, peak of the resident memory in MiB, and why it failed."""
    start = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    timer = threading.Timer(limit, process.kill)
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    failure = f"stopped at {limit:.0f} s" if seconds >= limit else f"exit status {process.returncode}" if process.returncode else ""
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, failure


def output(*arguments: str, python: str = sys.executable) -> str:
    """What a Python run prints."""
    return subprocess.run([python, *arguments], capture_output=True, text=True, check=True).stdout
