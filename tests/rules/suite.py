"""Who notices what: ``python -m tests.rules.suite [CODE ...]`` puts onnx.checker, ONNX Runtime and qdqtool side by side.

With codes it says what each of them says.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from onnx import ModelProto

from qdqtool import dtypes
from qdqtool.findings import Finding
from tests.judging import runtime
from tests.rules.case import Case
from tests.rules.running import findings_of

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Answers:
    """What each tool says about one file; empty where it has nothing against it."""

    checker: str
    load: str
    run: str
    findings: list[Finding]


def cases() -> Iterator[Case]:
    """Those of all ``cases_*.py``, by code."""
    names = [f"tests.rules.{path.parent.name}.{path.stem}" for path in sorted(HERE.glob("*/cases_*.py"))]
    yield from sorted((case for name in names for case in importlib.import_module(name).CASES), key=lambda case: case.code)


def answers(model: ModelProto, files: Mapping[str, bytes | None]) -> Answers:
    """Save a model with the files beside it, and ask everybody."""
    with tempfile.TemporaryDirectory() as folder:
        path = saved(model, files, Path(folder))
        return Answers(checked(path), *ran(path, model), findings_of(path))


def saved(model: ModelProto, files: Mapping[str, bytes | None], folder: Path) -> Path:
    """The model as a file, with those that belong to it."""
    home = folder / "models"
    home.mkdir()
    for name, data in files.items():
        if data is not None:
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_bytes(data)
    path = home / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def of_bad(case: Case) -> Answers:
    return answers(case.bad, {**case.files, **case.bad_files})


def checked(path: Path) -> str:
    """What onnx.checker says with full_check."""
    try:
        onnx.checker.check_model(path, full_check=True)
    except Exception as error:
        return _first(error)
    return ""


def ran(path: Path, model: ModelProto) -> tuple[str, str]:
    """What ONNX Runtime says when it loads the model without optimizations, and when it runs it."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    try:
        session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        return _first(error), "-"
    try:
        session.run_with_ort_values(None, feeds(session, model))
    except Exception as error:
        return "", _first(error)
    return "", ""


def feeds(session: ort.InferenceSession, model: ModelProto) -> dict[str, Any]:
    """Values for all inputs; unknown dimensions are 2."""
    rng = np.random.default_rng(0)
    wanted = {i.name for i in session.get_inputs()}
    found = {}
    for value in model.graph.input:
        if value.name in wanted:
            tensor = value.type.tensor_type
            shape = [d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else 2 for d in tensor.shape.dim]
            dtype = dtypes.of_code(tensor.elem_type)
            assert dtype is not None
            values = rng.random(shape) if dtype.kind == "float" else rng.integers(0, 2, shape)
            found[value.name] = runtime.value(np.asarray(values).astype(dtype.numpy))
    return found


def _first(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].removeprefix("[ONNXRuntimeError] : ")


def main(*codes: str) -> None:
    """Print the table."""
    noticed: Counter[str] = Counter()
    shown = [case for case in cases() if not codes or any(case.code.startswith(code) for code in codes)]
    print(f"{'code':7} {'case':60} {'checker':8} {'ORT load':9} {'ORT run':8} qdqtool")
    for case in shown:
        bad = of_bad(case)
        found = [f for f in bad.findings if f.code == case.code]
        columns = {"checker": bad.checker, "ORT load": bad.load, "ORT run": bad.run.strip("-"), "qdqtool": found}
        noticed.update(name for name, said in columns.items() if said)
        words = ["error" if columns[name] else "passes" for name in ("checker", "ORT load")]
        run = "-" if bad.run == "-" else "error" if bad.run else "computes"
        print(f"{case.code:7} {case.name:60} {words[0]:8} {words[1]:9} {run:8} {', '.join(f.severity for f in found) or 'NOTHING'}")
        if codes:
            others = [f"{f.severity} {f.code} {f.at}: {f.message}" for f in bad.findings]
            print(*(f"        {line}" for line in (bad.checker, bad.load, bad.run, *others) if line), sep="\n")
    print(
        f"{len(shown)} broken models; noticed by "
        + ", ".join(f"{name} {noticed[name]}" for name in ("checker", "ORT load", "ORT run", "qdqtool"))
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
