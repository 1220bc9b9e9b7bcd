"""Damaged files under the linter: ``python -m tests.linting.fuzz N``; no traceback, no hang, no flood of memory.

Each case runs in a worker process that may use 2 s of processor time for it and 500 MiB of memory; what kills a worker is reported
with the number of the case, ``python -m tests.linting.fuzz 1 --first NUMBER`` repeats it.
"""

from __future__ import annotations

import argparse
import multiprocessing.connection
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory

from qdqtool.linting.engine import FAILED
from qdqtool.linting.run import Settings, lint_file, summed_up
from qdqtool.reports import formats
from qdqtool.targets import all_targets
from tests.linting.damage import damaged

ROOT = Path(__file__).parents[2]
SECONDS, BYTES = 2.0, 500 << 20
LARGE = 50_000
RUNTIMES = sorted(f"{name}@{runtime.versions()[-1]}" if runtime.versions() else name for name, runtime in all_targets().items())
Judge = Callable[[Path, str], str]
SPACE = 3 << 30
"""Addresses that a worker may take: libraries reserve more than they use."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that went wrong."""

    case: int
    model: str
    what: str


@cache
def subjects() -> list[tuple[str, bytes]]:
    """The models that are damaged: the fixtures, and those that the rules are tested with."""
    frozen = [(path.name, path.read_bytes()) for path in sorted((ROOT / "fixtures").glob("*.onnx"))]
    homes = sorted((ROOT / "tests" / "rules").glob("*/cases_*.py"))
    cases = [case for home in homes for case in import_module(f"tests.rules.{home.parent.name}.{home.stem}").CASES]
    tried = [(f"{case.name}, {side}", getattr(case, side).SerializeToString()) for case in cases for side in ("good", "bad")]
    return [(name, data) for name, data in (*frozen, *tried) if 0 < len(data) < LARGE]


def run(first: int, count: int, workers: int = 1, judge: Judge | None = None) -> list[Failure]:
    """Run the cases ``first`` to ``first + count``."""
    judge = judge or judged
    share = -(-count // workers)
    spans = [(start, min(start + share, first + count)) for start in range(first, first + count, share)]
    running = [_started(*span, judge) for span in spans]
    failures = []
    while running:
        ready = multiprocessing.connection.wait([link for _, link, _ in running])
        for process, link, stop in [r for r in running if r[1] in ready]:
            case, found = _received(link, process)
            failures += found
            if case is not None:
                running.remove((process, link, stop))
                running += [_started(case + 1, stop, judge)] if case + 1 < stop else []
    return sorted(failures, key=lambda f: f.case)


def _started(start: int, stop: int, judge: Judge) -> tuple[BaseProcess, Connection, int]:
    here, there = multiprocessing.get_context("forkserver").Pipe(duplex=False)
    process = multiprocessing.get_context("forkserver").Process(target=_work, args=(start, stop, there, judge), daemon=True)
    process.start()
    there.close()
    return process, here, stop


_last: dict[int, int] = {}


def _received(link: Connection, process: BaseProcess) -> tuple[int | None, list[Failure]]:
    """Failures told by a worker; and the last case once the worker is gone."""
    try:
        case, what = link.recv()
    except EOFError:
        process.join()
        case = _last.pop(id(link), 0)
        if process.exitcode == 0:
            return sys.maxsize - 1, []
        said = f"hang of more than {SECONDS} s" if process.exitcode == -signal.SIGPROF else f"worker ended with {process.exitcode}"
        return case, [Failure(case, _subject(case)[0], said)]
    _last[id(link)] = case
    return None, [Failure(case, _subject(case)[0], what)] if what else []


def _subject(case: int) -> tuple[str, bytes]:
    models = subjects()
    return models[case % len(models)]


def _work(start: int, stop: int, link: Connection, judge: Judge) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (SPACE, SPACE))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.onnx"
        for case in range(start, stop):
            link.send((case, ""))
            path.write_bytes(damaged(_subject(case)[1], case))
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            what = judge(path, RUNTIMES[case % len(RUNTIMES)])
            signal.setitimer(signal.ITIMER_PROF, 0)
            if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10 > BYTES:
                link.send((case, what or "more than 500 MiB"))
                sys.exit(1)
            if what:
                link.send((case, what))


def judged(path: Path, target: str) -> str:
    """What went wrong with one file; empty when nothing did."""
    settings = Settings(path.parent, target)
    try:
        validation = summed_up({str(path): lint_file(path, settings)}, settings)
        for name in formats.names():
            formats.writer(name)(validation)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "; ".join(f.message for f in validation.findings if f.code == FAILED)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Damaged files under the linter.")
    parser.add_argument("count", type=int, help="number of cases")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for the damaged files of failures")
    options = parser.parse_args(arguments)
    failures = run(options.first, options.count, options.workers)
    for failure in failures:
        print(f"case {failure.case} ({failure.model}): {failure.what}")
        if options.keep:
            (options.keep / f"{failure.case}.onnx").write_bytes(damaged(_subject(failure.case)[1], failure.case))
    print(f"{options.count} cases, {len(failures)} failures")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
