"""Whole tools folding whole models, each run a process of its own: ``python -m tests.benchmarks.tools``.

Peers come from the environment of another Python (``--peers``, or QDQTOOL_PEERS), into which these are installed:
onnx onnxruntime onnxsim onnxslim onnxscript. This process imports nothing large, since a child's peak may count its parent's.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import Any

from tests.benchmarks.measuring import Goal, Timing, finish, interleave, options, show
from tests.benchmarks.processes import Runs, output

PEERS = ("onnxruntime", "onnxsim", "onnxslim", "onnxscript")
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Case:
    """A subject, the flags that fold all of it, the tools that can stand it, and whether it must be asked for."""

    subject: str
    flags: tuple[str, ...] = ("--weights",)
    tools: tuple[str, ...] = ("qdqtool", *PEERS)
    heavy: bool = False


CASES = (
    Case("tiny"),
    Case("cnn", ("--weights", "--bias")),
    Case("many"),
    Case("many x2", tools=("qdqtool", "onnxruntime")),
    Case("llm300"),
    Case("llm1500", tools=("qdqtool", "onnxruntime"), heavy=True),
)


def installed(python: str) -> set[str]:
    """Those of the peers that a Python can import."""
    code = f"from importlib.util import find_spec; print(*(n for n in {PEERS} if find_spec(n)))"
    return set(output("-c", code, python=python).split())


def command(tool: str, case: Case, source: Path, python: str) -> list[str]:
    """Without the result, which comes last."""
    if tool == "qdqtool":
        return [sys.executable, "-m", "qdqtool", "fold", str(source), *case.flags, "--no-check", "-q", "-o"]
    return [python, str(Path(__file__).with_name("peers.py")), tool, str(source)]


def compare(case: Case, told: Namespace, there: set[str], folder: Path) -> list[dict[str, Any]]:
    """A row for each tool that was asked for."""
    with TemporaryDirectory(dir=folder) as place:
        output("-m", "tests.benchmarks.subjects", case.subject, place)
        source = Path(place) / "model.onnx"
        runs = {tool: Runs(command(tool, case, source, told.peers), told.limit, folder) for tool in case.tools if tool in there}
        timings = interleave(runs, told.rounds)
        files = {"onnx_mib": source.stat().st_size / MIB, "files_mib": sum(f.stat().st_size for f in Path(place).iterdir()) / MIB}
    return [row(case, tool, runs.get(tool), timings.get(tool)) | files for tool in case.tools if tool in told.tools]


def row(case: Case, tool: str, runs: Runs | None, timing: Timing | None) -> dict[str, Any]:
    found: dict[str, Any] = dict.fromkeys(("model", "tool", "seconds", "best", "noise", "cpu", "peak_mib", "left", "result_mib", "remark"))
    found |= {"model": case.subject, "tool": tool}
    if runs is None or timing is None or runs.failure:
        return found | {"remark": runs.failure if runs else "not installed"}
    found |= {"seconds": timing.median, "best": timing.best, "noise": timing.noise}
    return found | {"cpu": median(runs.busy), "peak_mib": median(runs.peaks), "left": runs.left, "result_mib": runs.size / MIB}


def goals(rows: Sequence[Mapping[str, Any]]) -> list[Goal]:
    """What is promised for the subjects that were run."""
    of = {(row["model"], row["tool"]): row for row in rows if row["seconds"] is not None}
    found: list[Goal] = []

    def ratio(name: str, column: str, above: tuple[str, str], below: tuple[str, str], **limit: float) -> None:
        with suppress(KeyError):
            found.append(Goal(name, of[above][column] / of[below][column], **limit))

    for model, times in (("many", 3.0), ("llm300", 8.0)):
        ratio(f"{model}: time of ONNX Runtime / ours", "seconds", (model, "onnxruntime"), (model, "qdqtool"), least=times)
    ratio("llm300: our memory / ONNX Runtime's", "peak_mib", ("llm300", "qdqtool"), ("llm300", "onnxruntime"), most=0.02)
    with suppress(KeyError):
        start, once, twice = (of[model, "qdqtool"]["seconds"] for model in ("tiny", "many", "many x2"))
        found.append(Goal("many: seconds", once, most=0.8))
        found.append(Goal("many: work of twice the nodes / work", (twice - start) / (once - start), most=2.2))
    for (model, tool), measured in of.items():
        if tool == "qdqtool" and measured["files_mib"] > measured["onnx_mib"]:
            found.append(Goal(f"{model}: peak MiB, 128 + 3 x .onnx", measured["peak_mib"], most=128 + 3 * measured["onnx_mib"]))
    return found


def main() -> None:
    parser = options("Whole tools folding whole models, each run a process of its own.", 5)
    parser.add_argument("--tools", nargs="+", default=["qdqtool", *PEERS], metavar="NAME", help="only these tools")
    parser.add_argument(
        "--peers", default=os.environ.get("QDQTOOL_PEERS", sys.executable), metavar="PYTHON", help="Python that has the peers"
    )
    parser.add_argument("--limit", type=float, default=60, help="seconds after which a run is stopped (default 60)")
    parser.add_argument("--heavy", action="store_true", help="also llm1500, which needs 8 GB of memory and 20 GB of disk")
    parser.add_argument("--folder", type=Path, help="where models and results go for a while")
    told = parser.parse_args()
    there = {"qdqtool", *installed(told.peers)} & set(told.tools)
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory(dir=told.folder) as folder:
        compare(CASES[0], told, there, Path(folder))  # the first run of each tool compiles its modules
        for case in CASES:
            if told.only in case.subject and (told.heavy or not case.heavy):
                rows += compare(case, told, there, Path(folder))
                print(f"{case.subject}: done", file=sys.stderr)
    show("Whole tools: seconds of the process, peak memory, DequantizeLinear left, size of the result", rows)
    finish("tools", rows, goals(rows), fmean([row["noise"] for row in rows if row["noise"] is not None] or [0]), told.json)


if __name__ == "__main__":
    main()
