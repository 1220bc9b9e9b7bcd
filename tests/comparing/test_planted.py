"""Faults planted by seed: `compare` must name the node and say what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, load

import qdqtool
from tests.comparing import faults, networks
from tests.comparing.faults import Planted, attribute, bypassed, dropped, operand, replaced

Fault = Callable[[ModelProto, np.random.Generator], Planted]
Network = Callable[[], ModelProto]

DQ, Q = "DequantizeLinear", "QuantizeLinear"
FAULTS: dict[str, tuple[Network, Fault]] = {
    "scale of a weight": (networks.convolutions, operand(DQ, 1, faults.times(2), "scale .*2 x", on_constant=True)),
    "scale of a channel": (networks.convolutions, operand(DQ, 1, faults.one_channel, "scale .*: 1 of 8 is", on_constant=True)),
    "reciprocal scales": (networks.convolutions, operand(DQ, 1, faults.inverse, "scale .*reciprocal", on_constant=True)),
    "scale of an activation": (networks.convolutions, operand(Q, 1, faults.times(1.01), "scale .*1.01 x")),
    "scale back": (networks.convolutions, operand(DQ, 1, faults.times(0.5), "scale .*0.5 x", on_constant=False)),
    "zero point of an activation": (networks.convolutions, operand(Q, 2, faults.shifted(1), r"zero point .*shifted by \+1")),
    "no zero point": (networks.blocks, dropped(DQ, 2, "zero point", on_constant=True)),
    "zero points of blocks": (networks.blocks, operand(DQ, 2, faults.shifted(-1), "zero point .*shifted by -1", on_constant=True)),
    "axis": (networks.convolutions, faults.other_axis),
    "swapped blocks of scales": (networks.blocks, operand(DQ, 1, faults.swapped(0), "scale .*axis 0 are swapped", on_constant=True)),
    "swapped rows of codes": (networks.blocks, operand(DQ, 0, faults.swapped(1), "codes .*axis 1 are swapped", on_constant=True)),
    "transposed codes": (networks.blocks, operand(DQ, 0, faults.turned, "codes .*transposed", on_constant=True)),
    "order of codes in a byte": (networks.blocks, operand(DQ, 0, faults.neighbours, "codes .*in every block of 2", on_constant=True)),
    "codes rounded otherwise": (networks.blocks, operand(DQ, 0, faults.nudged, "codes .*one step off", on_constant=True)),
    "one code": (networks.blocks, operand(DQ, 0, faults.one_code, "codes .*: 1 of 1,024 is", on_constant=True)),
    "rounding toward zero": (networks.convolutions, faults.truncated),
    "no limit": (networks.convolutions, bypassed("Clip")),
    "no Relu": (networks.convolutions, bypassed("Relu")),
    "another activation": (networks.convolutions, replaced("Relu", "LeakyRelu")),
    "padding": (networks.convolutions, attribute("Conv", "pads", [2, 2, 0, 0], r"pads .* became \[2, 2, 0, 0\]")),
    "axis of Softmax": (networks.blocks, attribute("Softmax", "axis", 0, "axis -1 became 0")),
    "bias": (networks.blocks, operand("Add", 1, faults.times(-1), "B bias: .*-1 x")),
    "scale of an integer operator": (networks.integer_operators, operand("QLinearConv", 6, faults.times(1.02), "y_scale .*1.02 x")),
    "zero point of an integer operator": (
        networks.integer_operators,
        operand("QLinearMatMul", 7, faults.shifted(3), r"zero_point .*shifted by \+3"),
    ),
    "weight of an integer operator": (networks.integer_operators, operand("QLinearConv", 3, faults.turned, "w .*order|w .*transposed")),
    "bias of an integer operator": (networks.integer_operators, operand("QLinearConv", 8, faults.times(2), "B .*different")),
    "packed zero points left out": (networks.packed, dropped("MatMulNBits", 3, "zero_points")),
    "packed scales": (networks.packed, operand("MatMulNBits", 2, faults.swapped(1), "scales .*swapped")),
    "packed codes": (networks.packed, operand("MatMulNBits", 1, faults.swapped(0), "B .*axis 0 are swapped")),
}
CORPUS: dict[str, tuple[str, Fault]] = {
    "resnet, scale": ("ort_quant/resnet_l13_qdq_u8s8_pc", operand(DQ, 1, faults.times(1.1), "scale .*1.1 x", on_constant=True)),
    "resnet, zero point": ("ort_quant/resnet_l13_qdq_u8s8_pt", operand(Q, 2, faults.shifted(2), r"zero point .*shifted by \+2")),
    "resnet, Relu": ("quark/resnet_l17_quark_a8w8", bypassed("Relu")),
    "bert, scale": ("ort_quant/bert_l13_qdq_u8u8", operand(DQ, 1, faults.times(2), "scale .*2 x", on_constant=True)),
    "vit, codes": ("ort_quant/vit_l17_qdq_u8s8", operand(DQ, 0, faults.swapped(0), "codes .*axis 0 are swapped", on_constant=True)),
    "mobilenet, weight": ("ort_quant/mobilenet_l13_qop_u8u8", operand("QLinearConv", 4, faults.times(2), "w_scale .*2 x")),
    "unet, scale back": ("ort_quant/unet_l13_qdq_u8s8_pc", operand(DQ, 1, faults.times(0.9), "scale .*0.9 x", on_constant=False)),
    "llama, packed": ("ort_quant/llama_d18_nbits4_asym_b32", operand("MatMulNBits", 2, faults.times(1.5), "scales .*1.5 x")),
    "llama, blocks": ("ort_quant/llama_d21_qdq4_sym_b32", operand(DQ, 1, faults.swapped(0), "scale .*swapped", on_constant=True)),
    "tf2onnx, codes": ("tf2onnx/cnn_int8_op13", operand(DQ, 0, faults.one_code, "codes .*: 1 of", on_constant=True)),
}


def judged(original: ModelProto, fault: Fault, folder: Path, seed: int) -> None:
    """Plant, compare, and hold the answer against what was planted."""
    changed = ModelProto()
    changed.CopyFrom(original)
    planted = fault(changed, np.random.default_rng(seed))
    found = qdqtool.compare(original, changed, base_dir=folder)
    assert found.verdict == "different", planted
    assert found.first is not None
    assert found.first.where == f"main / {planted.node}", (planted, found.first)
    assert _says(planted.word, found.first.reasons), (planted, found.first.reasons)
    assert len(found.runs[0].places) == 1, [place.where for place in found.runs[0].places]


def _says(word: str, reasons: tuple[str, ...]) -> bool:
    import re

    return any(re.search(word, reason) for reason in reasons)


@pytest.mark.parametrize("name", FAULTS)
def test_the_node_at_fault_is_found(tmp_path: Path, name: str) -> None:
    network, fault = FAULTS[name]
    judged(network(), fault, tmp_path, seed=len(name))


@pytest.mark.parametrize("name", CORPUS)
def test_the_node_at_fault_is_found_in_real_models(corpus: Path, name: str) -> None:
    file, fault = CORPUS[name]
    path = corpus / "models" / f"{file}.onnx"
    judged(load(path), fault, path.parent, seed=len(name))


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1, 8))
@pytest.mark.parametrize("name", FAULTS)
def test_whatever_the_seed(tmp_path: Path, name: str, seed: int) -> None:
    network, fault = FAULTS[name]
    judged(network(), fault, tmp_path, seed=seed)
