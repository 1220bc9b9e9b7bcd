"""Every fold on every model of the corpus, checked, and sizes beside those of other tools: ``python -m tests.fold_corpus [PART]``."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import qdqtool
from qdqtool.errors import CheckFailed, QdqtoolError, Unreadable
from tests.node_cases import ABSENT, CORPUS
from tests.opsets.peers import CHILDREN
from tests.test_corpus import NAMES, RUNS

ONLY = {"quantize": False, "pairs": False, "scales": False}
FOLDS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "weights": ONLY | {"weights": True},
    "weights bias": ONLY | {"weights": True, "bias": True},
    "pairs": ONLY | {"pairs": True},
    "scales": ONLY | {"scales": True, "collapse": True},
    "move": ONLY | {"move": True},
    "all": {"weights": True, "bias": True, "move": True, "collapse": True, "tidy": True},
}
ROOM = 4096
"""Bytes by which a model may grow where nobody asked for growth."""
EQUAL = ("equal", "within bound")


@dataclass(frozen=True)
class Folded:
    """What became of one model: the check's verdict or an error's code, bytes of all files before and after, and what was folded."""

    word: str
    before: int
    after: int = 0
    folds: int = 0
    detail: str = ""

    @property
    def growth(self) -> int:
        return self.after - self.before if self.after else 0


def size(path: Path, data: Sequence[str]) -> int:
    return path.stat().st_size + sum(file.stat().st_size for name in data if (file := path.parent / name).is_file())


def folded(name: str, flags: Mapping[str, Any]) -> Folded:
    """One model by these flags; its result is written and thrown away."""
    from qdqtool.model.load import load

    source = CORPUS / name
    try:
        before = size(source, sorted(load(source).data_files))
        with TemporaryDirectory() as folder:
            folding = qdqtool.fold(source, output=Path(folder) / "result.onnx", **flags)
            after = sum(path.stat().st_size for path in Path(folder).iterdir())
    except CheckFailed as error:
        return Folded("DIFFERENT", 0, detail=error.report.summary())
    except Unreadable as error:
        return Folded(error.code, source.stat().st_size, detail=str(error))
    except QdqtoolError as error:
        return Folded(f"ERROR {error.code}", source.stat().st_size, detail=str(error))
    report = folding.check
    assert report is not None
    return Folded("unchecked" if report.reason and name in RUNS else report.verdict, before, after, len(folding.folds), report.summary())


def everything(name: str) -> dict[str, Folded]:
    found = {}
    for fold, flags in FOLDS.items():
        try:
            found[fold] = folded(name, flags)
        except Exception as error:
            found[fold] = Folded("CRASHED", 0, detail=f"{type(error).__name__}: {error}")
    return found


def peer(tool: str, name: str, python: str) -> int | None:
    """Bytes of what another tool makes of it; None when it fails."""
    script = Path(__file__).parent / "benchmarks" / "peers.py"
    with TemporaryDirectory() as folder:
        command = [python, str(script), tool, str(CORPUS / name), str(Path(folder) / "result.onnx")]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=60)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return None
        return sum(path.stat().st_size for path in Path(folder).iterdir())


def compared(name: str) -> tuple[dict[str, Folded], dict[str, int | None]]:
    python = os.environ.get("QDQTOOL_PEERS", "")
    return everything(name), {tool: peer(tool, name, python) for tool in ("onnxsim", "onnxruntime") if python}


def main(part: str) -> None:
    """Print sizes of each model, totals, and all that is not equal or grew unasked."""
    start = time.monotonic()
    names = [name for name in NAMES if part in name]
    with ProcessPoolExecutor(2, CHILDREN) as pool:
        found = dict(zip(names, pool.map(compared, names), strict=True))
    print(f"{len(names)} models, {len(RUNS & set(names))} run as they are; {time.monotonic() - start:.0f} s; sizes in kB")
    print("".join(f"{column:>13}" for column in ("before", *FOLDS, "onnxsim", "ORT")))
    for name, (folds, peers) in found.items():
        sizes = [folds["default"].before, *(f.after for f in folds.values()), *(peers.get(t) for t in ("onnxsim", "onnxruntime"))]
        print("".join(f"{n / 1000:>13.1f}" if n else f"{'-':>13}" for n in sizes), name)
    for fold in FOLDS:
        of = [folds[fold] for folds, _ in found.values()]
        words = {word: sum(f.word == word for f in of) for word in sorted({f.word for f in of})}
        print(f"{fold}: {sum(f.folds > 0 for f in of)} models changed by {sum(f.folds for f in of)} folds; {words}")
    for name, (folds, _) in found.items():
        for fold, result in folds.items():
            if wrong := fault(name, fold, result):
                print(f"{name}, {fold}: {wrong}")


def fault(name: str, fold: str, result: Folded) -> str:
    """What is wrong with a result; empty when nothing."""
    if result.word.isupper() or result.word.startswith("ERROR") or (name in RUNS and result.word not in EQUAL):
        return f"{result.word} {' '.join(result.detail.split())[:400]}"
    exact = fold.startswith("weights") and name in RUNS
    if exact and result.word != "equal":
        return f"not bit for bit: {result.detail}"
    asked = "weights" in FOLDS[fold] or "bias" in FOLDS[fold]
    return f"grew by {result.growth} bytes" if result.growth > ROOM and not asked else ""


if __name__ == "__main__":
    if ABSENT:
        sys.exit(ABSENT)
    main(sys.argv[1] if len(sys.argv) > 1 else "")
