"""Linting a model of 20,000 nodes, by parts and by rules: ``python -m tests.benchmarks.linting``; the floor is onnx's own inference."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from onnx import shape_inference

from qdqtool import targets
from qdqtool.linting.subject import Subject
from qdqtool.linting.suppression import suppression
from qdqtool.model.load import load
from qdqtool.plan import outline
from qdqtool.rules import all_rules, name_of
from qdqtool.uncollected import uncollected
from tests.benchmarks.measuring import Goal, finish, options, show
from tests.benchmarks.subjects import SUBJECTS

LIMIT = 1.0
SHOWN = 0.005


def parts(path: Path) -> dict[str, float]:
    """Processor seconds of each part and rule, in the order in which the engine runs them."""
    found: dict[str, float] = {}

    def timed(name: str, run: Callable[[], Any]) -> Any:
        start = time.process_time()
        result = run()
        found[name] = time.process_time() - start
        return result

    with uncollected():
        loaded = timed("load", lambda: load(path, trusting=True))
        subject = Subject(loaded, targets.profile("ort"))
        timed("suppression", lambda: suppression(loaded.proto))
        timed("view", lambda: subject.view)
        for name in ("faults", "types", "steps"):
            timed(name, lambda name=name: getattr(subject, name))
        for code, rule in all_rules().items():
            timed(f"{code} {name_of(rule)}", lambda rule=rule: list(rule.check(subject)))
    return found


def inference(path: Path) -> float:
    """What onnx itself takes to infer the types, which is not ours."""
    proto = load(path).proto
    light = outline.of_model(proto, outline.of_graph(proto.graph))
    start = time.process_time()
    shape_inference.infer_shapes(light, check_type=False, strict_mode=False)
    return time.process_time() - start


def best(path: Path, rounds: int) -> dict[str, float]:
    """The quickest of several rounds, part by part."""
    runs = [parts(path) for _ in range(rounds)]
    return {name: min(run[name] for run in runs) for name in runs[0]}


def main() -> None:
    chosen = options(str(__doc__), rounds=3).parse_args()
    goals, rows = [], []
    for name in ("many", "pairs"):
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model.onnx"
            SUBJECTS[name](path)
            seconds, floor = best(path, chosen.rounds), inference(path)
        rows += [{"model": name, "part": part, "seconds": value} for part, value in seconds.items() if value >= SHOWN]
        rows.append({"model": name, "part": "onnx's inference, which is not ours", "seconds": floor})
        goals.append(Goal(f"{name}: 20,000 nodes (s)", sum(seconds.values()) - floor, most=LIMIT))
    show("Processor time", rows)
    finish("linting", rows, goals, 0.0, chosen.json)


if __name__ == "__main__":
    main()
