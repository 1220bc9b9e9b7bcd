"""Small quantized networks to plant faults in, one for each way to write layers."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto

from qdqtool import dtypes
from tests.check.builders import model, node

FLOAT = TensorProto.FLOAT


def _random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def convolutions() -> ModelProto:
    """Two convolutions in 8 bits with int32 biases, a limit, and a Gemm; square weights, so that no fault fails for its shape."""
    rng = _random(1)
    codes = {
        name: rng.integers(-127, 128, shape).astype(np.int8) for name, shape in (("w0", (8, 8, 3, 3)), ("w1", (8, 8, 1, 1)), ("w2", (8, 8)))
    }
    scales = {name: rng.uniform(0.002, 0.01, 8).astype(np.float32) for name in ("ws0", "ws1", "ws2")}
    bias = rng.integers(-3000, 3000, 8).astype(np.int32)
    steps = {
        "s0": np.float32(0.025),
        "s1": np.float32(0.04),
        "s2": np.float32(0.04),
        "z0": np.uint8(128),
        "z1": np.uint8(0),
        "z2": np.uint8(117),
    }
    limits = {"low": np.float32(0), "high": np.float32(6)}
    nodes = [
        node("QuantizeLinear", ["x", "s0", "z0"], ["xq"], name="in/Q"),
        node("DequantizeLinear", ["xq", "s0", "z0"], ["xd"], name="in/DQ"),
        node("DequantizeLinear", ["w0", "ws0"], ["w0d"], name="conv0/w", axis=0),
        node("DequantizeLinear", ["b0", "bs0"], ["b0d"], name="conv0/b", axis=0),
        node("Conv", ["xd", "w0d", "b0d"], ["c0"], name="conv0", pads=[1, 1, 1, 1]),
        node("Clip", ["c0", "low", "high"], ["r0"], name="limit"),
        node("QuantizeLinear", ["r0", "s1", "z1"], ["r0q"], name="mid/Q"),
        node("DequantizeLinear", ["r0q", "s1", "z1"], ["r0d"], name="mid/DQ"),
        node("DequantizeLinear", ["w1", "ws1"], ["w1d"], name="conv1/w", axis=0),
        node("Conv", ["r0d", "w1d"], ["c1"], name="conv1"),
        node("Relu", ["c1"], ["r1"], name="relu"),
        node("GlobalAveragePool", ["r1"], ["p"], name="pool"),
        node("Flatten", ["p"], ["f"], name="flat"),
        node("DequantizeLinear", ["w2", "ws2"], ["w2d"], name="fc/w", axis=1),
        node("Gemm", ["f", "w2d"], ["g"], name="fc"),
        node("QuantizeLinear", ["g", "s2", "z2"], ["gq"], name="out/Q"),
        node("DequantizeLinear", ["gq", "s2", "z2"], ["y"], name="out/DQ"),
    ]
    rest = {"b0": bias, "bs0": (scales["ws0"] * np.float32(0.025)).astype(np.float32)}
    return model(nodes, [("x", FLOAT, ["n", 8, 6, 6])], [("y", FLOAT)], opset=13, **codes, **scales, **rest, **steps, **limits)


def blocks() -> ModelProto:
    """Two int4 layers in blocks, with a 16-bit activation between them."""
    rng = _random(2)
    four: Any = dtypes.INT4.numpy
    codes = {name: rng.integers(-8, 8, (32, 32)).astype(np.int8).astype(four) for name in ("w0", "w1")}
    scales = {name: rng.uniform(0.05, 0.2, (2, 32)).astype(np.float32) for name in ("ws0", "ws1")}
    zero = rng.integers(1, 4, (2, 32)).astype(np.int8).astype(four)
    nodes = [
        node("DequantizeLinear", ["w0", "ws0", "z0"], ["w0d"], name="l0/w", axis=0, block_size=16),
        node("MatMul", ["x", "w0d"], ["m0"], name="l0"),
        node("Add", ["m0", "bias"], ["a0"], name="l0/add"),
        node("Sigmoid", ["a0"], ["g0"], name="l0/sigmoid"),
        node("Mul", ["a0", "g0"], ["h0"], name="l0/mul"),
        node("QuantizeLinear", ["h0", "s", "z"], ["q"], name="mid/Q"),
        node("DequantizeLinear", ["q", "s", "z"], ["d"], name="mid/DQ"),
        node("DequantizeLinear", ["w1", "ws1"], ["w1d"], name="l1/w", axis=0, block_size=16),
        node("MatMul", ["d", "w1d"], ["m1"], name="l1"),
        node("Softmax", ["m1"], ["y"], name="softmax", axis=-1),
    ]
    rest = {"z0": zero, "bias": rng.normal(size=32).astype(np.float32), "s": np.float32(0.001), "z": np.uint16(3000)}
    return model(nodes, [("x", FLOAT, ["n", 32])], [("y", FLOAT)], opset=21, **codes, **scales, **rest)


def integer_operators() -> ModelProto:
    """The same kind of network with QLinear operators."""
    rng = _random(3)
    weights = {"w0": rng.integers(-127, 128, (8, 8, 3, 3)).astype(np.int8), "w1": rng.integers(-127, 128, (8, 8)).astype(np.int8)}
    scales = {
        "ws0": rng.uniform(0.002, 0.01, 8).astype(np.float32),
        "ws1": np.float32(0.006),
        "s0": np.float32(0.025),
        "s1": np.float32(0.03),
    }
    nodes = [
        node("QuantizeLinear", ["x", "s0", "z0"], ["xq"], name="in/Q"),
        node("QLinearConv", ["xq", "s0", "z0", "w0", "ws0", "wz0", "s1", "z1", "b0"], ["cq"], name="conv", pads=[1, 1, 1, 1]),
        node("Transpose", ["cq"], ["tq"], name="turn", perm=[0, 2, 3, 1]),
        node("QLinearMatMul", ["tq", "s1", "z1", "w1", "ws1", "wz1", "s2", "z2"], ["mq"], name="matmul"),
        node("DequantizeLinear", ["mq", "s2", "z2"], ["y"], name="out/DQ"),
    ]
    zeros = {"z0": np.uint8(128), "z1": np.uint8(100), "z2": np.uint8(120), "wz0": np.zeros(8, np.int8), "wz1": np.int8(0)}
    rest = {"s2": np.float32(0.05), "b0": rng.integers(-2000, 2000, 8).astype(np.int32)}
    return model(nodes, [("x", FLOAT, ["n", 8, 6, 6])], [("y", FLOAT)], opset=13, **weights, **scales, **zeros, **rest)


def packed() -> ModelProto:
    """Two layers of MatMulNBits, one with zero points."""
    rng = _random(4)
    data = {name: rng.integers(0, 256, (32, 2, 8)).astype(np.uint8) for name in ("w0", "w1")}
    scales = {name: rng.uniform(0.05, 0.2, (32, 2)).astype(np.float32) for name in ("ws0", "ws1")}
    form = {"K": 32, "N": 32, "bits": 4, "block_size": 16}
    nodes = [
        node("MatMulNBits", ["x", "w0", "ws0", "wz0"], ["m0"], name="l0", domain="com.microsoft", **form),
        node("Relu", ["m0"], ["r0"], name="relu"),
        node("MatMulNBits", ["r0", "w1", "ws1"], ["y"], name="l1", domain="com.microsoft", **form),
    ]
    zero = rng.integers(0, 256, 32).astype(np.uint8)
    return model(nodes, [("x", FLOAT, ["n", 32])], [("y", FLOAT)], opset=21, **data, **scales, wz0=zero)


def fake_quantized() -> ModelProto:
    """Real weights that are quantized and dequantized when the model runs, as in training; an activation twice."""
    rng = _random(5)
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["xq"], name="in/Q"),
        node("DequantizeLinear", ["xq", "s", "z"], ["xd"], name="in/DQ"),
        node("QuantizeLinear", ["xd", "s", "z"], ["xq2"], name="again/Q"),
        node("DequantizeLinear", ["xq2", "s", "z"], ["xd2"], name="again/DQ"),
        node("QuantizeLinear", ["w", "ws", "wz"], ["wq"], name="w/Q", axis=1),
        node("DequantizeLinear", ["wq", "ws", "wz"], ["wd"], name="w/DQ", axis=1),
        node("MatMul", ["xd2", "wd"], ["y"], name="fc"),
    ]
    rest = {
        "w": rng.normal(size=(32, 16)).astype(np.float32),
        "ws": rng.uniform(0.01, 0.03, 16).astype(np.float32),
        "wz": np.zeros(16, np.int8),
    }
    return model(nodes, [("x", FLOAT, ["n", 32])], [("y", FLOAT)], opset=13, **rest, s=np.float32(0.02), z=np.uint8(131))
