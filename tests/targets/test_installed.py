"""Models made for OpenVINO and QNN load and run there, where an interpreter that has them is named; see tests/rules/runtimes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto

import qdqtool
from tests.node_cases import ABSENT, CORPUS
from tests.rules.runtimes.test_installed import BLOCKS, OPENVINO, QNN, close, here, same, there
from tests.rules.runtimes.vendors import openvino, qnn
from tests.rules.runtimes.vendors.models import Given
from tests.targets.test_conversion import MENDED

pytestmark = pytest.mark.full

REFUSED_BEFORE = ("mobilenet_l13_qop_u8u8",)
"""Of the models of others, those that OpenVINO does not read as they are."""
QUANTIZED_ANEW = "g-idx-in-openvino"
"""It quantizes float activations beside weights of 4 bits; see activations-quantized-anew."""
IN_OPENVINO = (
    "ort_quant/mobilenet_l13_qop_u8u8",
    "ort_quant/unet_l17_qop_u8s8",
    "ort_quant/resnet_l13_qdq_u8s8_pc",
    "ort_quant/unet_d24_qdq_u8s8_pc",
    "ort_quant/llama_d21_qdq4_sym_b32",
    "ort_testdata/conv_qdq_s8s8",
    "tf2onnx/cnn_int8_dequant_op13",
    "torch_native/fq_legacy13",
)
IN_QNN = ("ort_quant/mobilenet_d21_qdq_s8s8_pc", "ort_quant/resnet_d21_qdq_u16s8_main", "ort_quant/unet_d24_qdq_u8s8_pc")
"""Convolutional networks with fixed shapes: int8, uint16 and uint8 activations."""

Results = dict[str, np.ndarray[Any, Any] | str]


def of_others(names: tuple[str, ...] | list[str]) -> dict[str, ModelProto]:
    """Models with a size of 2 where none is given, so that all inputs can be made."""
    found = {}
    for name in names:
        model = onnx.load(CORPUS / "models" / f"{name}.onnx")
        for dim in (dim for port in model.graph.input for dim in port.type.tensor_type.shape.dim if not dim.dim_value):
            dim.dim_value = 2
        for port in model.graph.output:
            port.type.tensor_type.ClearField("shape")
        del model.graph.value_info[:]
        found[name.rpartition("/")[2]] = model
    return found


def made(models: dict[str, ModelProto], target: str) -> dict[str, ModelProto]:
    return {name: qdqtool.convert(model, target=target, check=False).model for name, model in models.items()}


def mended(given: tuple[Given, ...]) -> dict[str, ModelProto]:
    return {one.name: one.bad for one in given if one.name in MENDED and one.name not in BLOCKS}


def table(before: Results, after: Results, right: dict[str, np.ndarray[Any, Any] | None]) -> str:
    """What a run with ``-s`` shows: how far each is from ONNX Runtime, of the largest value."""
    lines = [f"{name:40} {_shown(before[name], right[name]):>12} {_shown(after[name], right[name]):>12}" for name in after]
    return "\n".join([f"{'':40} {'before':>12} {'after':>12}", *lines])


def _shown(found: np.ndarray[Any, Any] | str, right: np.ndarray[Any, Any] | None) -> str:
    if isinstance(found, str) or right is None:
        return "refused"
    wide = right.astype(np.float64)
    return f"{np.abs(found.astype(np.float64) - wide).max() / max(np.abs(wide).max(), 1e-30):.2g}"


@pytest.mark.skipif(not OPENVINO, reason="QDQTOOL_OPENVINO_PYTHON names no interpreter with openvino")
def test_models_made_for_openvino_give_what_they_say(tmp_path: Path) -> None:
    given = mended(openvino.GIVEN)
    results = made(given, "openvino")
    before, after = (there(OPENVINO, "openvino_worker.py", models, tmp_path) for models in (given, results))
    right = {name: here(model) for name, model in results.items()}
    print(table(before, after, right))
    exact = {name: found for name, found in after.items() if name != QUANTIZED_ANEW}
    assert [name for name, found in exact.items() if isinstance(found, str) or not same(found, right[name])] == []
    assert _near(after[QUANTIZED_ANEW], right[QUANTIZED_ANEW])


@pytest.mark.skipif(bool(ABSENT), reason=ABSENT)
@pytest.mark.skipif(not OPENVINO, reason="QDQTOOL_OPENVINO_PYTHON names no interpreter with openvino")
def test_models_of_others_made_for_openvino_run_there(tmp_path: Path) -> None:
    given = of_others(IN_OPENVINO)
    before, after = (there(OPENVINO, "openvino_worker.py", models, tmp_path) for models in (given, made(given, "openvino")))
    right = {name: here(model) for name, model in given.items()}
    print(table(before, after, right))
    assert tuple(name for name, found in before.items() if isinstance(found, str)) == REFUSED_BEFORE
    assert [name for name, found in after.items() if not _near(found, right[name])] == []


@pytest.mark.skipif(not QNN, reason="QDQTOOL_QNN_PYTHON names no interpreter with onnxruntime-qnn")
def test_models_made_for_qnn_compile_without_the_cpu(tmp_path: Path) -> None:
    given = mended(qnn.GIVEN) | ({} if ABSENT else of_others(IN_QNN))
    results = made(given, "qnn")
    before, after = (there(QNN, "qnn_worker.py", models, tmp_path) for models in (given, results))
    right = {name: here(model) for name, model in results.items()}
    print(table(before, after, right))
    assert [name for name, found in after.items() if not _near(found, right[name])] == []


def _near(found: np.ndarray[Any, Any] | str, right: np.ndarray[Any, Any] | None) -> bool:
    return not isinstance(found, str) and right is not None and close(found, right)
