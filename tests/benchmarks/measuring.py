"""Measuring side by side: candidates run in turn, round by round, so that a busy neighbour slows all of them alike."""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from math import exp, log
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of one candidate, round by round."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def noise(self) -> float:
        """Distance of the quartiles as a share of the median."""
        if len(self.seconds) < 2:
            return 0.0
        low, _, high = quantiles(self.seconds, n=4, method="inclusive")
        return (high - low) / self.median


def clock(run: Callable[[], object]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def interleave(candidates: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, Timing]:
    """Each candidate once per round; a candidate returns its own seconds (`clock` makes one of a plain function)."""
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, run in candidates.items():
            seconds[name].append(run())
    return {name: Timing(tuple(values)) for name, values in seconds.items()}


def side_by_side(candidates: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Timing]:
    """Time plain functions by turns, after one round that does not count."""
    timed = {name: lambda run=run: clock(run) for name, run in candidates.items()}
    interleave(timed, 1)
    return interleave(timed, rounds)


def geometric_mean(values: Iterable[float]) -> float:
    return exp(fmean(log(v) for v in values))


@dataclass(frozen=True, slots=True)
class Goal:
    """One line of the verdict: a number that must be `least` or more (or `most` or less), and what was measured."""

    name: str
    measured: float
    least: float | None = None
    most: float | None = None

    @property
    def reached(self) -> bool:
        return (self.least is None or self.measured >= self.least) and (self.most is None or self.measured <= self.most)

    def cells(self) -> dict[str, Any]:
        wanted = f">= {self.least:g}" if self.least is not None else f"<= {self.most:g}"
        return {"goal": self.name, "wanted": wanted, "measured": self.measured, "": "reached" if self.reached else "MISSED"}


def options(description: str, rounds: int) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers to FILE")
    parser.add_argument("--rounds", type=int, default=rounds, help=f"how often each candidate runs (default {rounds})")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name contains TEXT")
    return parser


def machine() -> dict[str, Any]:
    """Where the numbers come from."""
    packages = {name: version(name) for name in ("numpy", "ml_dtypes", "onnx", "onnxruntime")}
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    today = date.today().isoformat()
    return {
        "date": today,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count(),
        "load": load,
        **packages,
    }


def show(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print a table; the first row names the columns."""
    if not rows:
        return
    cells = [list(rows[0]), *([cell(row.get(name)) for name in rows[0]] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    print(f"\n{title}")
    for line in cells:
        first, *rest = (f"{text:>{width}}" for text, width in zip(line, widths, strict=True))
        print("  ".join([f"{line[0]:<{len(first)}}", *rest]).rstrip())


def cell(value: Any) -> str:
    """A value as the tables show it: three digits."""
    return "-" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)


def finish(name: str, rows: Sequence[Mapping[str, Any]], goals: Sequence[Goal], noise: float, path: Path | None) -> None:
    """Print the goals and the noise, and write everything to `path`."""
    show("Goals", [goal.cells() for goal in goals])
    print(f"\nNoise (distance of the quartiles, share of the median, mean of all): {noise:.0%}; {machine()}")
    if path is not None:
        told = {"benchmark": name, "machine": machine(), "noise": noise, "rows": list(rows), "goals": [asdict(g) for g in goals]}
        path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
