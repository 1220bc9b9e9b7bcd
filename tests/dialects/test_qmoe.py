"""QMoE: what inspect tells of its weights, and that it stays where it stands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper

import qdqtool
from tests.dialects.layouts import MICROSOFT, built, constants, operators

FORMS: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "rows": ({}, ("uint4", "tiles of 1 along axis 0 by 1 along axis 1")),
    "blocks": ({"block_size": 32}, ("uint4", "blocks of 32 along axis 2")),
    "8 bits": ({"expert_weight_bits": 8}, ("uint8", "tiles of 1 along axis 0 by 1 along axis 1")),
    "another width first": (
        {"expert_weight_bits": 8, "fc1_expert_weight_bits": 2, "block_size": 16},
        ("uint2", "blocks of 16 along axis 2"),
    ),
    "3 bits": ({"expert_weight_bits": 3}, ("", "tiles of 1 along axis 0 by 1 along axis 1")),
    "float8": ({"quant_type": "fp8", "block_size": 128}, ("float8e4m3fn", "tiles of 128 along axis 1 by 128 along axis 2")),
    "float4": ({"quant_type": "nvfp4", "block_size": 16}, ("float4e2m1", "blocks of 16 along axis 2")),
}


def model(**attributes: Any) -> ModelProto:
    experts, hidden, inter = 2, 32, 64
    rng = np.random.default_rng(0)
    names = ["x", "router", "w1", "s1", "", "w2", "s2"]
    held = {
        "w1": rng.integers(0, 256, (experts, inter, hidden // 2), np.uint8),
        "s1": rng.random((experts, inter), np.float32),
        "w2": rng.integers(0, 256, (experts, hidden, inter // 2), np.uint8),
        "s2": rng.random((experts, hidden), np.float32),
    }
    node = helper.make_node("QMoE", names, ["y"], "experts", domain=MICROSOFT, k=1, activation_type="relu", **attributes)
    inputs = [("x", TensorProto.FLOAT, ("n", hidden)), ("router", TensorProto.FLOAT, ("n", experts))]
    return built([node], inputs, [("y", TensorProto.FLOAT)], held)


@pytest.mark.parametrize(("attributes", "told"), FORMS.values(), ids=FORMS.keys())
def test_inspect_tells_codes_and_granularity(attributes: dict[str, Any], told: tuple[str, str]) -> None:
    given = model(**attributes)
    (row,) = qdqtool.inspect(given).quantized
    assert (row.form.storage, row.form.granularity) == told
    assert (row.form.op, row.form.expressed, row.form.scale) == ("QMoE", "float32", "float32")
    assert row.bytes == sum(a.nbytes for a in constants(given).values())


def test_it_stays_where_plain_operators_are_asked_for() -> None:
    original = model()
    assert operators(qdqtool.convert(original, to="ai.onnx", check=False).model) == ["QMoE"]


def test_validate_reads_it() -> None:
    assert qdqtool.validate(model()).ok
