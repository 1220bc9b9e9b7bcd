"""``quantize``: constants become codes where that makes no model larger."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto

from qdqtool import dtypes as d
from tests.passes.folded import codes, constants, folded, kinds, model, node, ops, reals, scales

T = TensorProto


def quantized(storage: d.ElementType, scale: Any, zero: Any = None, *, opset: int = 25, x: Any = None, **attributes: Any) -> ModelProto:
    """W[8, 4] quantized, dequantized, multiplied."""
    held = {"W": reals(8, 4) if x is None else x, "s": scale} | ({} if zero is None else {"z": zero})
    zeros = [] if zero is None else ["z"]
    same = {k: v for k, v in attributes.items() if k in ("axis", "block_size")}
    kind = {} if zero is not None or storage is d.UINT8 else {"output_dtype": storage.code}
    nodes = [
        node("QuantizeLinear", ["W", "s", *zeros], "q", **attributes, **kind),
        node("DequantizeLinear", ["q", "s", *zeros], "w", **same),
        node("Cast", ["w"], "f", to=T.FLOAT),
        node("MatMul", ["x", "f"], "y"),
    ]
    return model(nodes, held, opset=opset)


FORMS = {
    "uint8 per tensor, opset 10": quantized(d.UINT8, np.float32(0.05), np.uint8(120), opset=10),
    "int8 per axis, opset 13": quantized(d.INT8, scales(4), codes(d.INT8, 4), opset=13, axis=1),
    "float8e4m3fn without saturation": quantized(d.FLOAT8E4M3FN, np.float32(0.1), np.zeros((), d.FLOAT8E4M3FN.numpy), opset=19, saturate=0),
    "float16, opset 19": quantized(d.INT8, np.float16(0.1), np.int8(1), opset=19, x=reals(8, 4).astype(np.float16)),
    "float16, opset 23": quantized(d.INT8, np.float16(0.1), np.int8(1), opset=23, x=reals(8, 4).astype(np.float16)),
    "int4 blocks": quantized(d.INT4, scales(4, 4), opset=21, axis=0, block_size=2),
    "uint16": quantized(d.UINT16, scales(4), codes(d.UINT16, 4), opset=21, axis=-1),
    "int2 blocks": quantized(d.INT2, scales(8, 2), opset=25, axis=1, block_size=2),
    "infinities and NaN": quantized(d.INT8, np.float32(0.1), np.int8(1), x=np.float32([np.inf, -np.inf, np.nan, 1e38] * 8).reshape(8, 4)),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form(name: str) -> None:
    folding = folded(FORMS[name])
    assert (ops(folding), kinds(folding), folding.kept) == (["DequantizeLinear", "Cast", "MatMul"], ["quantize"], 1)
    assert folding.bytes[1] < folding.bytes[0]


def test_overflow_that_runtimes_judge_differently_stays() -> None:
    """Of 490, without saturation, the specification makes NaN and ONNX Runtime 448."""
    zero, beyond = np.zeros((), d.FLOAT8E4M3FN.numpy), np.full((8, 4), 490, np.float32)
    assert folded(quantized(d.FLOAT8E4M3FN, np.float32(1), zero, opset=19, x=beyond, saturate=0)).folds == ()


def test_it_can_be_left_out() -> None:
    assert folded(FORMS["uint16"], quantize=False).folds == ()


FLOAT_TOO = [
    node("QuantizeLinear", ["W", "s"], "q"),
    node("DequantizeLinear", ["q", "s"], "w"),
    node("MatMul", ["x", "w"], "a"),
    node("MatMul", ["x", "W"], "b"),
    node("Add", ["a", "b"], "y"),
]


def test_no_codes_beside_floats_that_stay() -> None:
    folding = folded(model(FLOAT_TOO, {"W": reals(8, 4), "s": np.float32(0.05)}, opset=13))
    assert folding.folds == ()


def test_no_copies_of_one_float_constant_that_are_larger_together() -> None:
    scale = {f"s{i}": scales(4) for i in range(5)}
    nodes = []
    for i in range(5):
        nodes += [node("QuantizeLinear", ["W", f"s{i}"], f"q{i}"), node("DequantizeLinear", [f"q{i}", f"s{i}"], f"w{i}")]
    nodes += [node("Sum", [f"w{i}" for i in range(5)], "w"), node("MatMul", ["x", "w"], "y")]
    large = reals(64, 4)
    proto = model(nodes, {"W": large} | scale, {"x": (T.FLOAT, [2, 64])}, opset=13)
    assert folded(proto).folds == ()


@pytest.mark.parametrize(
    "mover", [node("Transpose", ["d"], "t"), node("Reshape", ["d", "shape"], "t"), node("Slice", ["d", "b", "e"], "t")]
)
def test_a_chain_behind_a_dequantized_constant_is_computed_in_one(mover: Any) -> None:
    """Dequantize, move, quantize with other parameters: what ``DQ -> X -> Q`` says of constants."""
    nodes = [
        node("DequantizeLinear", ["W", "s"], "d"),
        mover,
        node("QuantizeLinear", ["t", "u"], "q"),
        node("DequantizeLinear", ["q", "u"], "y"),
    ]
    held = {
        "W": codes(d.INT8, 8, 4),
        "s": scales(4),
        "u": np.float32(0.7),
        "shape": np.int64([4, 8]),
        "b": np.int64([2]),
        "e": np.int64([9]),
    }
    folding = folded(model(nodes, held, {}, opset=13))
    assert (ops(folding), kinds(folding)) == (["DequantizeLinear"], ["quantize"])
    assert folding.folds[0].nodes == (3, 0)
    assert {"q", "u"} <= set(constants(folding))


@pytest.mark.parametrize("storage", [d.INT8, d.INT4, d.UINT2, d.FLOAT8E4M3FN])
def test_codes_that_are_an_output(storage: d.ElementType) -> None:
    nodes = [node("QuantizeLinear", ["W", "s"], "y", output_dtype=storage.code)]
    folding = folded(model(nodes, {"W": reals(8, 4), "s": scales(4)}, {}, {"y": storage.code}))
    assert (ops(folding), constants(folding)) == ([], {"y": (str(storage), (8, 4))})
