"""What the pages say about ONNX Runtime's integer kernels: the good twin gets one, the bad one does not."""

from __future__ import annotations

import platform
from collections import Counter
from pathlib import Path

import onnx
import onnxruntime as ort
import pytest
from onnx import ModelProto

from tests.rules.case import Case
from tests.rules.patterns import cases_layers, cases_pairs
from tests.rules.running import findings_of
from tests.rules.values import cases_weights

INTEGER = ("QLinearConv", "QGemm", "QLinearMatMul", "QLinearAdd", "MatMulNBits")
LOST = {
    "QDQ212": ("int8", "uint8", "int16 of Gemm"),
    "QDQ304": ("Add",),
    "QDQ306": ("Transpose before MatMul", "Transpose and Reshape before Conv", "Reshape before Conv"),
    "QDQ308": ("LeakyRelu between", "Relu and a zero point", "Clip and a wide range", "in float", "16 bits"),
    "QDQ309": ("a constant", "the input"),
    "QDQ311": ("a weight among the inputs",),
    "QDQ313": ("Cast and Mul",),
    "QDQ314": ("MatMul", "Gemm with transB", "Conv"),
    "QDQ318": ("channels of the input",),
    "QDQ319": ("a residual connection",),
    "QDQ320": ("weight", "input"),
}
"""Rows whose bad model is computed in float."""

KEPT = {
    "QDQ211": ("one channel of Gemm", "2 %"),
    "QDQ306": ("Transpose before Conv",),
    "QDQ307": ("Relu",),
    "QDQ312": ("a float weight",),
}
"""Rows whose bad model keeps its integer kernel."""

CASES = [*cases_weights.CASES, *cases_pairs.CASES, *cases_layers.CASES]


def chosen(table: dict[str, tuple[str, ...]]) -> list[Case]:
    found = [case for case in CASES if case.name in table.get(case.code, ())]
    assert len(found) == sum(map(len, table.values()))
    return found


def operators(model: bytes, folder: Path) -> Counter[str]:
    """Those of the optimized graph."""
    options = ort.SessionOptions()
    options.optimized_model_filepath = str(folder / "optimized.onnx")
    options.log_severity_level = 4
    ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return Counter(node.op_type for node in onnx.load(folder / "optimized.onnx").graph.node)


def integer_kernels(model: ModelProto, folder: Path) -> int:
    counted = operators(model.SerializeToString(), folder)
    return sum(counted[op] for op in INTEGER)


def name(case: Case) -> str:
    return f"{case.code}-{case.name}"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="which kernels ONNX Runtime has was measured on x86-64")
@pytest.mark.parametrize("case", chosen(LOST), ids=name)
def test_the_kernel_is_lost(case: Case, tmp_path: Path) -> None:
    assert integer_kernels(case.bad, tmp_path) < integer_kernels(case.good, tmp_path)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="which kernels ONNX Runtime has was measured on x86-64")
@pytest.mark.parametrize("case", chosen(KEPT), ids=name)
def test_the_kernel_is_kept(case: Case, tmp_path: Path) -> None:
    assert integer_kernels(case.bad, tmp_path) == integer_kernels(case.good, tmp_path) > 0


FLOAT = {
    "esp_ppq/mobilenet_l13_ppq_ort": 40,
    "modelopt/mobilenet_l17_mo_int8_entropy": 50,
    "ort_quant/mobilenet_d21_qdq_s8s8_pc": 15,
    "quark/resnet_l17_quark_a8w8": 12,
}
"""Real models and how many of their quantized convolutions ONNX Runtime computes in float."""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="which kernels ONNX Runtime has was measured on x86-64")
@pytest.mark.parametrize("model", FLOAT)
def test_every_convolution_that_stays_in_float_is_told(corpus: Path, model: str, tmp_path: Path) -> None:
    path = corpus / "models" / f"{model}.onnx"
    counted = operators(path.read_bytes(), tmp_path)
    assert sum(counted[op] for op in counted if op.endswith("Conv") and op != "QLinearConv") == FLOAT[model]
    assert len([f for f in findings_of(path) if f.code in ("QDQ308", "QDQ319")]) == FLOAT[model]
