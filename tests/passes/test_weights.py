"""``weights`` and ``bias``: dequantized constants become real values, each element as ONNX Runtime computes it."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import ModelProto, TensorProto

from qdqtool import api
from qdqtool import dtypes as d
from tests.passes.folded import codes, constants, folded, kinds, model, node, ops, scales

Array = np.ndarray[Any, np.dtype[Any]]


def weight(
    dtype: d.ElementType, scale: Array, zero: Array | None = None, *, opset: int = 25, domain: str = "", **attributes: Any
) -> ModelProto:
    """W[8, 4] dequantized, cast to float32 and multiplied."""
    held = {"W": codes(dtype, 8, 4), "s": scale} | ({} if zero is None else {"z": zero})
    inputs = ["W", "s"] + ([] if zero is None else ["z"])
    nodes = [
        node("DequantizeLinear", inputs, "w", name="dq", domain=domain, **attributes),
        node("Cast", ["w"], "f", to=TensorProto.FLOAT),
        node("MatMul", ["x", "f"], "y"),
    ]
    return model(nodes, held, opset=opset, domains=[domain] if domain else [])


F16, BF16 = np.float16, ml_dtypes.bfloat16
FORMS: dict[str, ModelProto] = {
    "int8 per tensor, opset 10": weight(d.INT8, np.float32(0.1), np.int8(3), opset=10),
    "uint8 per axis 0, opset 13": weight(d.UINT8, scales(8), codes(d.UINT8, 8), opset=13, axis=0),
    "int32 per axis, opset 13": weight(d.INT32, scales(4), opset=13),
    "float8e4m3fn to float16, opset 19": weight(d.FLOAT8E4M3FN, np.float16(0.5), opset=19),
    "int4 blocks": weight(d.INT4, scales(4, 4), codes(d.INT4, 4, 4), opset=21, axis=0, block_size=2),
    "int4 blocks to float16": weight(d.INT4, scales(4, 4, dtype=F16), opset=21, axis=0, block_size=2),
    "uint16 per axis": weight(d.UINT16, scales(4), codes(d.UINT16, 4), opset=21, axis=-1),
    "uint8 by float16 to float32": weight(d.UINT8, scales(4, dtype=F16), opset=23, output_dtype=TensorProto.FLOAT),
    "int2 blocks": weight(d.INT2, scales(8, 2), opset=25, axis=1, block_size=2),
    "int4 ragged blocks": weight(d.INT4, scales(3, 4), opset=21, axis=0, block_size=3),
    "com.microsoft int4": weight(d.INT8, scales(4), codes(d.INT8, 4), opset=17, domain="com.microsoft"),
    "a scale of one element": weight(d.INT8, scales(1), codes(d.INT8, 1), opset=13),
}


@pytest.mark.parametrize("name", FORMS)
def test_nothing_is_dequantized_unasked(name: str) -> None:
    folding = folded(FORMS[name])
    assert (folding.folds, folding.kept) == ((), 1)
    assert folding.model.SerializeToString() == FORMS[name].SerializeToString()


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_weight(name: str) -> None:
    folding = folded(FORMS[name], weights=True)
    assert (ops(folding), folding.kept, len(folding.folds)) == (["Cast", "MatMul"], 0, 1)
    assert list(constants(folding)) == ["w"]
    assert folding.nodes == (3, 2)


def test_bias_alone() -> None:
    nodes = [
        node("DequantizeLinear", ["W", "s"], "w"),
        node("DequantizeLinear", ["B", "s"], "b", axis=0),
        node("Gemm", ["x", "w", "b"], "y"),
    ]
    proto = model(nodes, {"W": codes(d.INT8, 8, 4), "B": codes(d.INT32, 4), "s": scales(4)}, opset=13)
    folding = folded(proto, bias=True)
    assert (kinds(folding), ops(folding)) == (["bias"], ["DequantizeLinear", "Gemm"])
    assert constants(folding)["b"] == ("float32", (4,))
    assert kinds(folded(proto, weights=True)) == ["weights", "bias"]


SHARED = [
    node("DequantizeLinear", ["W", "s"], "a", name="first"),
    node("DequantizeLinear", ["W", "s"], "b", name="second"),
    node("MatMul", ["x", "a"], "p"),
    node("MatMul", ["x", "b"], "q"),
    node("Add", ["p", "q"], "y"),
]


def shared() -> ModelProto:
    return model(SHARED, {"W": codes(d.INT8, 8, 4), "s": scales(4)}, opset=13)


def test_equal_values_are_one_tensor() -> None:
    folding = folded(shared(), weights=True)
    assert constants(folding) == {"a": ("float32", (8, 4))}
    assert [list(n.input) for n in folding.model.graph.node] == [["x", "a"], ["x", "a"], ["p", "q"]]


def test_codes_stay_while_somebody_reads_them() -> None:
    folding = folded(shared(), weights=True, only=["second"])
    assert list(constants(folding)) == ["W", "s", "b"]
    assert folding.bytes == (48, 48 + 128)


def test_an_output_keeps_its_name() -> None:
    nodes = [node("DequantizeLinear", ["W", "s"], "y")]
    folding = folded(model(nodes, {"W": codes(d.INT8, 8, 4), "s": scales(4)}, {}, opset=13), weights=True)
    assert (ops(folding), constants(folding)) == ([], {"y": ("float32", (8, 4))})


def test_two_outputs_of_one_value_keep_both_names() -> None:
    nodes = [node("DequantizeLinear", ["W", "s"], name) for name in ("y", "u", "v")]
    proto = model([*nodes, node("Relu", ["v"], "w")], {"W": codes(d.INT8, 8, 4), "s": scales(4)}, {}, {"y": 1, "u": 1, "w": 1}, opset=13)
    assert set(constants(folded(proto, weights=True))) == {"y", "u", "v"}


def test_what_may_change_stays() -> None:
    nodes = [node("DequantizeLinear", ["W", "s"], "w"), node("MatMul", ["x", "w"], "y")]
    inputs = {"x": (TensorProto.FLOAT, [2, 8]), "s": (TensorProto.FLOAT, [4])}
    folding = folded(model(nodes, {"W": codes(d.INT8, 8, 4), "s": scales(4)}, inputs, opset=13), weights=True)
    assert folding.folds == ()


def test_initializers_of_ir_3_are_constants() -> None:
    nodes = [node("DequantizeLinear", ["W", "s"], "w"), node("MatMul", ["x", "w"], "y")]
    inputs = {"x": (TensorProto.FLOAT, [2, 8]), "W": (TensorProto.INT8, [8, 4]), "s": (TensorProto.FLOAT, [])}
    folding = folded(model(nodes, {"W": codes(d.INT8, 8, 4), "s": np.float32(0.1)}, inputs, opset=10, ir=3), weights=True)
    assert ops(folding) == ["MatMul"]
    assert [v.name for v in folding.model.graph.input] == ["x"]
    assert folding.ir == (3, 4)


def test_a_value_that_an_annotation_names_stays() -> None:
    proto = shared()
    proto.graph.quantization_annotation.add(tensor_name="a")
    folding = folded(proto, weights=True)
    assert ops(folding) == ["MatMul", "MatMul", "Add"]
    assert set(constants(folding)) == {"a", "b"}


def test_what_training_updates_stays() -> None:
    proto = shared()
    training = proto.training_info.add()
    training.update_binding.add(key="W", value="W_new")
    assert api.fold(proto, weights=True, check=False).folds == ()
