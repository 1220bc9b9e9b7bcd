"""What the profiles of OpenVINO and QNN say is what these runtimes do, where an interpreter that has them is named.

``QDQTOOL_OPENVINO_PYTHON`` and ``QDQTOOL_QNN_PYTHON`` name a Python with openvino, and one with onnxruntime and onnxruntime-qnn.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from onnx import ModelProto

from qdqtool import dtypes
from tests.judging import runtime
from tests.rules.runtimes.vendors import openvino, qnn
from tests.rules.runtimes.vendors.models import Given

pytestmark = pytest.mark.full

HERE = Path(__file__).parent
OPENVINO, QNN = (os.environ.get(f"QDQTOOL_{name}_PYTHON", "") for name in ("OPENVINO", "QNN"))
REFUSING = ("QDQ403", "QDQ404", "QDQ409", "QDQ410", "QDQ413", "QDQ419")
"""Rules that OpenVINO breaks off for; the others are about results."""
GATHER = "gather-in-openvino"
"""Refused as well, by a rule that is about results elsewhere."""
WRONG_IN_QNN = ("contracted-in-qnn", "int2-in-qnn", "no-zero-point-of-int4-in-qnn", "softmax-in-qnn")
"""What it takes and computes wrongly."""
ADVICE = ("opset-of-qnn", "sigmoid-of-uint16-in-qnn", "sigmoid-of-int16-in-qnn", "tanh-of-uint16-in-qnn", "tanh-of-int16-in-qnn")
"""What ONNX Runtime refuses itself, or its quantizer is careful about."""
BLOCKS = ("int8-blocks-in-qnn", "uint4-blocks-in-qnn")
"""What this wheel refuses in a MatMul or Conv, with int4 too; other forms were seen to run."""
STEPS = 0.1
"""Of the range of the result: more than all that is known to differ in rounding."""


def values(model: ModelProto) -> dict[str, np.ndarray[Any, Any]]:
    """Half of them exact ties of a scale of 0.5, half beyond the range of codes."""
    rng, found = np.random.default_rng(0), {}
    for port in model.graph.input:
        kind, shape = dtypes.of_code(port.type.tensor_type.elem_type), [d.dim_value for d in port.type.tensor_type.shape.dim]
        assert kind is not None
        wide = np.where(rng.random(shape) < 0.5, rng.integers(-40, 40, shape) / 4, rng.choice([-1000, 1000], shape))
        found[port.name] = (wide if kind.kind == "float" else rng.integers(0, 2, shape)).astype(kind.numpy)
    return found


def here(model: ModelProto) -> np.ndarray[Any, Any] | None:
    """What ONNX Runtime gives on the CPU without optimizations; None where it runs it not."""
    options = ort.SessionOptions()
    options.log_severity_level, options.graph_optimization_level = 4, ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return np.asarray(session.run_with_ort_values(None, {k: runtime.value(v) for k, v in values(model).items()})[0].numpy())
    except Exception:
        return None


def there(python: str, worker: str, models: dict[str, ModelProto], folder: Path) -> dict[str, np.ndarray[Any, Any] | str]:
    """What another runtime gives for each model, or why it does not."""
    jobs = []
    for name, model in models.items():
        path, feeds, results = folder / f"{name}.onnx", folder / f"{name}.npz", folder / f"{name}-out.npz"
        path.write_bytes(model.SerializeToString())
        np.savez(feeds, **values(model))
        jobs.append({"id": name, "path": str(path), "feeds": str(feeds), "results": str(results)})
    asked, told = folder / "jobs.jsonl", folder / "answers.jsonl"
    asked.write_text("".join(json.dumps(job) + "\n" for job in jobs), encoding="utf-8")
    subprocess.run([python, str(HERE / worker), str(asked), str(told)], check=True, capture_output=True)
    answers = [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines()]
    return {said["id"]: said["error"] or np.load(said["results"])["out_0"] for said in answers}


def sides(given: Iterable[Given]) -> dict[str, ModelProto]:
    return {f"{one.name}-{side}": getattr(one, side) for one in given for side in ("good", "bad")}


@pytest.mark.skipif(not OPENVINO, reason="QDQTOOL_OPENVINO_PYTHON names no interpreter with openvino")
def test_openvino_refuses_or_changes_what_has_findings(tmp_path: Path) -> None:
    known = [given for given in openvino.GIVEN if given.code != "QDQ401"]
    said = there(OPENVINO, "openvino_worker.py", sides(known), tmp_path)
    wrong = {}
    for given in known:
        good, bad, right = said[f"{given.name}-good"], said[f"{given.name}-bad"], here(given.bad)
        if isinstance(good, str):
            wrong[given.name] = good
        elif given.code in REFUSING and not isinstance(bad, str):
            wrong[given.name] = "it reads the bad one"
        elif given.code not in REFUSING and given.name != GATHER and same(bad, right):
            wrong[given.name] = "it computes the bad one as written"
    assert wrong == {}


@pytest.mark.skipif(not QNN, reason="QDQTOOL_QNN_PYTHON names no interpreter with onnxruntime-qnn")
def test_qnn_refuses_or_miscomputes_what_has_findings(tmp_path: Path) -> None:
    known = [given for given in qnn.GIVEN if given.name not in (*ADVICE, *BLOCKS)]
    said = there(QNN, "qnn_worker.py", sides(known), tmp_path)
    wrong = {}
    for given in known:
        good, bad, right = said[f"{given.name}-good"], said[f"{given.name}-bad"], here(given.bad)
        if isinstance(good, str):
            wrong[given.name] = good
        elif given.name not in WRONG_IN_QNN and not isinstance(bad, str):
            wrong[given.name] = "it takes the bad one"
        elif given.name in WRONG_IN_QNN and (isinstance(bad, str) or (right is not None and close(bad, right))):
            wrong[given.name] = "it computes the bad one as written"
    assert wrong == {}


def same(found: np.ndarray[Any, Any] | str, right: np.ndarray[Any, Any] | None) -> bool:
    """It refuses, or gives what is written."""
    return isinstance(found, str) or (right is not None and np.array_equal(found, right, equal_nan=True))


def close(found: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> bool:
    wide = right.astype(np.float64)
    return bool(np.abs(found.astype(np.float64) - wide).max() <= STEPS * max(np.ptp(wide), 1e-6))
