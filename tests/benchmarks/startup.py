"""What linting a small model costs beyond the imports that nobody can do without: ``python -m tests.benchmarks.startup``."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.measuring import Goal, Timing, finish, interleave, options, show
from tests.benchmarks.processes import compiled

ROOT = Path(__file__).parents[2]
MODEL = "fixtures/conv_13.onnx"
FLOOR, VALIDATE = "click, rich, onnx", "validate"
LIMIT = 0.15
COMMANDS = {FLOOR: ["-c", "import click, rich.console, onnx"], VALIDATE: ["-m", "qdqtool", "validate", MODEL]}


def processor(arguments: Sequence[str], folder: str) -> Callable[[], float]:
    """Seconds of processor time, user and system, of a fresh interpreter that finds all modules compiled, as once installed."""
    environment = compiled(folder) | {"PYTHONPATH": str(ROOT)}

    def run() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return run


def measured(rounds: int) -> dict[str, Timing]:
    """Both commands by turns, after one round that does not count."""
    with TemporaryDirectory() as folder:
        candidates = {name: processor(arguments, folder) for name, arguments in COMMANDS.items()}
        interleave(candidates, 1)
        return interleave(candidates, rounds)


def extra(timings: dict[str, Timing]) -> float:
    """Median of linting above the median of the floor."""
    return timings[VALIDATE].median - timings[FLOOR].median


def main() -> None:
    chosen = options(str(__doc__), rounds=11).parse_args()
    timings = measured(chosen.rounds)
    rows = [{"command": name, "seconds": timing.median, "best": timing.best, "noise": timing.noise} for name, timing in timings.items()]
    show("Processor time", rows)
    goal = Goal("validate above the floor (s)", extra(timings), most=LIMIT)
    finish("startup", rows, [goal], max(timing.noise for timing in timings.values()), chosen.json)


if __name__ == "__main__":
    main()
