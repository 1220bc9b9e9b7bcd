"""OpenVINO runs, after ``--to ai.onnx``, models of integer operators that it refuses or computes wrongly, where an interpreter has it.

``QDQTOOL_OPENVINO_PYTHON`` names a Python with openvino. Models are real ones, and real ones of dequantized operands made integer here.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, numpy_helper

import qdqtool
from qdqtool.check import generate
from qdqtool.check.generate import Wishes
from qdqtool.check.signature import signature
from tests.dialects.integer_models import outputs
from tests.dialects.layouts import Array, operators
from tests.dialects.qoperators import TABLE, drawn
from tests.node_cases import ABSENT, CORPUS

OPENVINO = os.environ.get("QDQTOOL_OPENVINO_PYTHON", "")
WORKER = Path(__file__).parents[1] / "rules" / "runtimes" / "openvino_worker.py"

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not OPENVINO, reason="QDQTOOL_OPENVINO_PYTHON names no interpreter with openvino"),
]

MODELS = (
    "ort_quant/unet_l17_qop_u8s8",
    "ort_quant/mobilenet_l13_qop_u8u8",
    "emmtrix/micro_kws_m_static_qoperator",
    "ort_quant/unet_d24_qdq_u8s8_pc",
    "ort_quant/unet_l13_qdq_u8s8_pc",
    "ort_quant/mobilenet_d21_qdq_s8s8_pc",
    "ort_quant/magika_qdq_u8s8",
    "tf2onnx/cnn_int8_op13",
)
ONE = 1.01
"""A step, and what float32 adds to it."""

PAD = "count_include_pad"
"""OpenVINO averages over windows that reach into the padding otherwise, in any spelling."""


def steps(model: ModelProto) -> list[float]:
    """The value of one step of each output: 1 for codes, else the scale of what was dequantized last."""
    held = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    made = {name: node for node in model.graph.node for name in node.output}
    found = []
    for output in model.graph.output:
        node = made[output.name]
        while node.op_type not in ("DequantizeLinear", "QuantizeLinear") and node.input[0] in made:
            node = made[node.input[0]]
        found.append(float(held[node.input[1]].max()) if node.op_type == "DequantizeLinear" else 1.0)
    return found


SUFFIXES = {"path": ".onnx", "feeds": ".npz", "results": ".npz"}


def run_there(models: dict[str, tuple[ModelProto, dict[str, Array]]], folder: Path) -> dict[str, list[Array] | str]:
    """What OpenVINO gives, or says."""
    jobs = list[dict[str, str]]()
    for name, (model, feeds) in models.items():
        paths = {key: str(folder / f"{len(jobs)}-{key}{suffix}") for key, suffix in SUFFIXES.items()}
        onnx.save(model, paths["path"])
        np.savez(paths["feeds"], allow_pickle=False, **feeds)
        jobs.append({"id": name, **paths})
    asked, told = folder / "jobs.jsonl", folder / "answers.jsonl"
    asked.write_text("".join(json.dumps(job) + "\n" for job in jobs), encoding="utf-8")
    subprocess.run([OPENVINO, str(WORKER), str(asked), str(told)], check=True, capture_output=True)
    answers = [json.loads(line) for line in told.read_text(encoding="utf-8").splitlines()]
    return {said["id"]: said["error"] or _values(said["results"]) for said in answers}


def _values(path: str) -> list[Array]:
    with np.load(path) as found:
        return [found[f"out_{number}"] for number in range(len(found.files))]


def apart(found: list[Array] | str, expected: list[Array], unit: list[float]) -> float:
    """The largest difference in steps; infinite where it does not run, or gives other shapes."""
    if isinstance(found, str) or [a.shape for a in found] != [b.shape for b in expected]:
        return float("inf")
    pairs = zip(found, expected, unit, strict=True)
    return max(float(np.abs(a.astype(np.float64) - b.astype(np.float64)).max() / step) for a, b, step in pairs)


def measured(models: dict[str, tuple[ModelProto, dict[str, Array]]], folder: Path) -> dict[str, tuple[float, float]]:
    """How far OpenVINO is from ONNX Runtime before and after, in steps of the output."""
    split = {name: (qdqtool.convert(model, to="ai.onnx").model, feeds) for name, (model, feeds) in models.items()}
    jobs = {f"{name} {word}": job for word, part in (("before", models), ("after", split)) for name, job in part.items()}
    there = run_there(jobs, folder)
    found = {}
    for name, (model, feeds) in models.items():
        expected, unit = outputs(model, feeds), steps(split[name][0])
        found[name] = apart(there[f"{name} before"], expected, unit), apart(there[f"{name} after"], expected, unit)
    return found


@pytest.mark.skipif(bool(ABSENT), reason=ABSENT)
def test_real_models_are_within_one_step(tmp_path: Path) -> None:
    given = {}
    for name in MODELS:
        model = onnx.load(CORPUS / "models" / f"{name}.onnx")
        integer = model if "QLinearConv" in operators(model) else qdqtool.convert(model, to="qoperator").model
        given[name] = integer, next(iter(generate.generated(signature(integer), Wishes())))
    found = measured(given, tmp_path)
    print(*(f"{name}: {before:.3g} steps before, {after:.3g} after" for name, (before, after) in found.items()), sep="\n")
    assert all(before > ONE >= after for before, after in found.values())


def test_single_operators_are_within_one_step(tmp_path: Path) -> None:
    cases = [case for case in TABLE if not case.real and PAD not in case.attributes]
    made = {str(number): drawn(case) for number, case in enumerate(cases)}
    found = measured({name: (each.model, each.feeds) for name, each in made.items()}, tmp_path)
    assert {str(cases[int(name)]): after for name, (_, after) in found.items() if after > ONE} == {}
    assert sum(before > ONE for before, _ in found.values()) > 40
