"""Corpus models ``--for ort@V``, run in that very wheel and compared with the original in the newest: ``python -m tests.time_machine.travel
FOLDER [V ...]`` prints the table. The same for ``onnx.version_converter`` to the opset that ours chose.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
from onnx import version_converter

import qdqtool
from qdqtool.errors import QdqtoolError
from tests.node_cases import CORPUS
from tests.time_machine.environments import WHEELS, Job, answers, interpreter

NEWEST = list(WHEELS)[-1]
TOLERANCE = 1e-5
"""Of the output's maximum; outputs of integers may be one step apart."""

EQUAL, DIFFERENT, FAILS, BROKEN, REFUSED = "equal", "different", "fails at run", "does not load", "refused"
PARTS = "wheels part"
"""The original itself differs between the two wheels."""
NARROW = "float16"
"""Also in the newest wheel: ONNX Runtime drops roundings to float16 between nodes, and those of the rewrite elsewhere."""


Outputs = list[Any]


@dataclass(slots=True)
class Trip:
    """What became of one model: the fate of ours and of the converter's, the opset, whether default options load it."""

    name: str
    opset: int = 0
    ours: str = ""
    theirs: str = ""
    optimized: str = ""
    why: str = ""
    cautions: list[str] = field(default_factory=list)


def names() -> list[str]:
    """Models that the newest wheel runs, with inputs."""
    rows = json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8"))
    return [row["file"] for row in rows if row["file"].endswith(".onnx") and row.get("golden") and row.get("ort_run") == "ok"]


def trips(version: str, models: Iterable[str], wheels: Path, work: Path) -> list[Trip]:
    """All models to one version."""
    made = [_made(version, name, work / str(number)) for number, name in enumerate(models)]
    jobs = [job for number, trip in enumerate(made) for job in _jobs(trip, work / str(number))]
    original = [_job("original", work / str(number), CORPUS / trip.name) for number, trip in enumerate(made)]
    said = {a["id"]: a for a in answers(interpreter(wheels, version), [*jobs, *original], work)}
    ours = [job for job in jobs if job["id"].endswith(":ours")]
    expected = [job | {"results": f"{job['results']}.newest.npz"} for job in (*original, *ours)]
    list(answers(interpreter(wheels, NEWEST), expected, work))
    for number, trip in enumerate(made):
        _settle(trip, work / str(number), said)
    return made


def _made(version: str, name: str, folder: Path) -> Trip:
    """The model converted by both, in a folder of its own; feeds by name beside it."""
    folder.mkdir(parents=True)
    trip = Trip(name)
    _feeds(name, folder)
    try:
        done = qdqtool.convert(CORPUS / name, target=f"ort@{version}", check=False)
        done.save(folder / "ours.onnx")
        trip.opset, trip.cautions = done.target_opset, [note for note in done.notes if note.startswith("caution")]
    except QdqtoolError as error:
        trip.ours, trip.why = REFUSED, " ".join(str(error).split())
    try:
        theirs = version_converter.convert_version(onnx.load(CORPUS / name), trip.opset) if trip.opset else None
    except Exception:
        theirs = None
    if theirs is not None:
        onnx.save(theirs, folder / "theirs.onnx")
    return trip


def _feeds(name: str, folder: Path) -> None:
    rows = json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8"))
    with np.load(CORPUS / next(row["golden"] for row in rows if row["file"] == name)) as golden:
        inputs = json.loads(str(golden["names"]))["inputs"]
        np.savez(folder / "feeds.npz", **{name: golden[f"in_{i}"] for i, name in enumerate(inputs)})


def _jobs(trip: Trip, folder: Path) -> Iterator[Job]:
    for side in ("ours", "theirs"):
        if (folder / f"{side}.onnx").is_file():
            yield _job(side, folder, folder / f"{side}.onnx")
    if trip.opset:
        yield {"id": f"{folder.name}:optimized", "path": str(folder / "ours.onnx"), "only_load": True, "optimized": True}


def _job(side: str, folder: Path, model: Path) -> Job:
    return {
        "id": f"{folder.name}:{side}",
        "path": str(model),
        "feeds": str(folder / "feeds.npz"),
        "results": str(folder / f"{side}.npz"),
    }


def _settle(trip: Trip, folder: Path, said: dict[str, Job]) -> None:
    expected = _arrays(folder / "original.npz.newest.npz")
    there = _arrays(folder / "original.npz")
    for side in ("ours", "theirs"):
        answer = said.get(f"{folder.name}:{side}")
        if answer is None:
            fate, why = getattr(trip, side) or "cannot", trip.why
        elif answer["stage"] != "done":
            fate, why = BROKEN if answer["stage"] == "load" else FAILS, answer["error"]
        else:
            fate, why = _compared(expected, _arrays(folder / f"{side}.npz"), there, _arrays(folder / f"{side}.npz.newest.npz"))
        setattr(trip, side, fate)
        trip.why = why if side == "ours" else trip.why
    optimized = said.get(f"{folder.name}:optimized")
    trip.optimized = "" if optimized is None else optimized["error"] or "loads"


def _arrays(path: Path) -> Outputs | None:
    if not path.is_file():
        return None
    with np.load(path) as held:
        return [held[f"out_{i}"] for i in range(len(held.files))]


def _compared(expected: Outputs | None, actual: Outputs | None, there: Outputs | None, newest: Outputs | None) -> tuple[str, str]:
    """The result against the original in the newest wheel; `there` is the original in this wheel, `newest` the result in the newest."""
    assert expected is not None
    assert actual is not None
    gap = distance(expected, actual)
    if gap <= 1:
        return EQUAL, ""
    why = f"{gap:.1f} times the tolerance"
    if there is not None and distance(expected, there) > 1:
        return PARTS, f"{why}, the original {distance(expected, there):.1f} times"
    narrow = newest is not None and distance(newest, actual) <= 1
    return (NARROW if narrow else DIFFERENT), why


def distance(expected: Outputs, actual: Outputs) -> float:
    """The largest difference in units of what is allowed."""
    worst = 0.0
    for one, other in zip(expected, actual, strict=True):
        if one.shape != other.shape or one.dtype != other.dtype:
            return float("inf")
        if one.dtype.kind not in "fiub" or not one.size:
            worst = max(worst, 0.0 if np.array_equal(one, other) else float("inf"))
            continue
        a, b = one.astype(np.float64), other.astype(np.float64)
        allowed = 1.0 if one.dtype.kind != "f" else TOLERANCE * max(np.abs(a[np.isfinite(a)]).max(initial=0.0), 1e-30)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        worst = max(worst, float((np.where(same, 0.0, np.abs(a - b)) / allowed).max()))
    return worst


def main(folder: Path, versions: list[str]) -> None:
    """Print the table, then every model that does not come out equal."""
    for version in versions or list(WHEELS):
        with TemporaryDirectory() as work:
            made = trips(version, names(), folder, Path(work))
        unlike = Counter(trip.ours for trip in made), Counter(trip.theirs for trip in made)
        loading = sum(trip.optimized == "loads" for trip in made)
        print(f"ort@{version}: {dict(unlike[0])}, with default options {loading} load; onnx.version_converter: {dict(unlike[1])}")
        for trip in made:
            if trip.ours != EQUAL or trip.optimized != "loads":
                print(f"    {trip.name} at {trip.opset}: {trip.ours} {trip.why[:300]} {trip.cautions} {trip.optimized[:160]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
