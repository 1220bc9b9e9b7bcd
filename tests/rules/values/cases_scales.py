"""Scales and zero points whose values make no sense, and ranges that fit nothing."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto

from qdqtool import dtypes as t
from qdqtool.model import tensors
from tests.rules.case import Case, changed, codes, constant, model, scales, tensor, zeros

U8 = np.uint8
PAIR = model("g (float[4,6] x) => (float[4,6] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }", 21, s=0.02, z=U8(128))
CHANNELS = model(
    "g (float[4,6] x) => (float[4,6] y) { q = QuantizeLinear <axis = 1> (x, s, z) y = DequantizeLinear <axis = 1> (q, s, z) }",
    21,
    s=scales(6),
    z=zeros(t.INT8, 6),
)
WEIGHT = model(
    "g (float[2,4] x) => (float[2,6] y) { w = DequantizeLinear <axis = 1> (c, s) y = MatMul(x, w) }",
    21,
    c=codes(t.INT8, 4, 6),
    s=scales(6),
)
BLOCKS = model(
    "g (float[2,8] x) => (float[2,6] y) { w = DequantizeLinear <axis = 0, block_size = 2> (c, s) y = MatMul(x, w) }",
    21,
    c=codes(t.INT4, 8, 6),
    s=scales(4, 6),
)
HALF = model(
    "g (float16[4,6] x) => (float16[4,6] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }",
    21,
    s=np.float16(0.02),
    z=U8(128),
)
HALF_WEIGHT = model(
    "g (float16[2,4] x) => (float16[2,6] y) { w = DequantizeLinear <axis = 1> (c, s) y = MatMul(x, w) }",
    21,
    c=codes(t.INT8, 4, 6),
    s=scales(6, dtype=np.float16),
)
NARROWED = model(
    "g (float16[2,4] x) => (float16[2,6] y) { w = DequantizeLinear <axis = 1, output_dtype = 10> (c, s) y = MatMul(x, w) }",
    23,
    c=codes(t.INT8, 4, 6),
    s=scales(6),
)
NARROWED_BLOCKS = model(
    "g (float16[2,8] x) => (float16[2,6] y) { w = DequantizeLinear <axis = 0, block_size = 2, output_dtype = 10> (c, s) y = MatMul(x, w) }",
    23,
    c=codes(t.INT4, 8, 6),
    s=scales(4, 6),
)


def after(op: str, low: int, scale: float, dtype: str = "uint8", opset: int = 21) -> ModelProto:
    """A quantize of the results of one operator."""
    point = np.dtype(dtype).type(low)
    text = f"g (float[4,6] x) => (float[4,6] y) {{ a = {op} q = QuantizeLinear(a, s, z) y = DequantizeLinear(q, s, z) }}"
    return model(text, opset, s=scale, z=point)


def with_scale(good: ModelProto, index: int, value: float) -> ModelProto:
    """One scale replaced."""
    array = tensors.array(tensor(good, "s"), None).copy()
    array.reshape(-1)[index] = value
    return changed(good, constant(s=array))


TANH, SIGMOID, SOFTMAX = after("Tanh(x)", 128, 1 / 128), after("Sigmoid(x)", 0, 1 / 256), after("Softmax(x)", 0, 1 / 256)
LEAKY, RELU, ELU = after("LeakyRelu(x)", 26, 0.02), after("Relu(x)", 0, 0.02), after("Elu(x)", 100, 0.02)
SIGNED = after("Sigmoid(x)", -128, 1 / 256, "int8")

CASES = [
    Case("quantize", PAIR, changed(PAIR, constant(s=0.0)), "QDQ201", "scale 's' is 0: dividing by 0 has no meaning (2 nodes read it)"),
    Case(
        "one channel",
        CHANNELS,
        with_scale(CHANNELS, 2, 0.0),
        "QDQ201",
        "1 of 6 scales in 's' is 0, first at [2]: dividing by 0 has no meaning (2 nodes read it)",
    ),
    Case(
        "weight",
        WEIGHT,
        with_scale(WEIGHT, 1, 0.0),
        "QDQ201",
        "1 of 6 scales in 's' is 0, first at [1]: those values are 0 whatever their codes",
        "warning",
    ),
    Case(
        "blocks",
        BLOCKS,
        with_scale(BLOCKS, 7, -0.0),
        "QDQ201",
        "1 of 24 scales in 's' is 0, first at [1, 1]: those values are 0 whatever their codes",
        "warning",
    ),
    Case("activation", PAIR, changed(PAIR, constant(s=-0.02)), "QDQ202", "scale 's' is negative (-0.02) (2 nodes read it)", "info"),
    Case(
        "half of the weight",
        BLOCKS,
        changed(BLOCKS, constant(s=scales(4, 6) * np.float32(-1) ** np.arange(6, dtype=np.float32))),
        "QDQ202",
        "12 of 24 scales in 's' are negative, first at [0, 1] (-0.02)",
        "info",
    ),
    Case("one channel", WEIGHT, with_scale(WEIGHT, 3, -0.01), "QDQ202", "1 of 6 scales in 's' is negative, first at [3] (-0.01)", "info"),
    Case("nan", PAIR, changed(PAIR, constant(s=np.float32("nan"))), "QDQ203", "scale 's' is nan (2 nodes read it)"),
    Case("infinite", HALF, changed(HALF, constant(s=np.float16("inf"))), "QDQ203", "scale 's' is inf (2 nodes read it)"),
    Case(
        "nan in a channel", WEIGHT, with_scale(WEIGHT, 5, float("nan")), "QDQ203", "1 of 6 scales in 's' is NaN or infinite, first at [5]"
    ),
    Case(
        "infinities in blocks",
        BLOCKS,
        with_scale(BLOCKS, 0, float("-inf")),
        "QDQ203",
        "1 of 24 scales in 's' is NaN or infinite, first at [0, 0]",
    ),
    Case(
        "float32",
        PAIR,
        changed(PAIR, constant(s=1e-40)),
        "QDQ204",
        "scale 's' is subnormal in float32 (least magnitude 1e-40) (2 nodes read it)",
        "warning",
        (),
    ),
    Case(
        "float16",
        HALF_WEIGHT,
        with_scale(HALF_WEIGHT, 4, 3e-6),
        "QDQ204",
        "1 of 6 scales in 's' is subnormal in float16, first at [4] (least magnitude 2.98e-06)",
        "warning",
    ),
    Case(
        "a block",
        BLOCKS,
        with_scale(BLOCKS, 8, 2e-39),
        "QDQ204",
        "1 of 24 scales in 's' is subnormal in float32, first at [1, 2] (least magnitude 2e-39)",
        "warning",
    ),
    Case(
        "activation",
        HALF,
        changed(HALF, constant(s=np.float16(600))),
        "QDQ205",
        "scale 's' lets codes reach 7.68e+04, but float16 ends at 65504: codes beyond never occur",
        "warning",
    ),
    Case(
        "weight in float16",
        NARROWED,
        with_scale(NARROWED, 2, 1e5),
        "QDQ205",
        "scale 's' lets codes reach 1e+05, but float16 ends at 65504: values beyond are infinite",
        "warning",
    ),
    Case(
        "blocks in float16",
        NARROWED_BLOCKS,
        with_scale(NARROWED_BLOCKS, 2, 1e6),
        "QDQ205",
        "scale 's' lets codes reach 1e+06, but float16 ends at 65504: values beyond are infinite",
        "warning",
    ),
    Case(
        "float32",
        PAIR,
        changed(PAIR, constant(s=np.float32(3e36))),
        "QDQ205",
        "scale 's' lets codes reach 3.84e+38, but float32 ends at 3.40282e+38: codes beyond never occur",
        "warning",
    ),
    Case(
        "weight in float16",
        NARROWED,
        changed(NARROWED, constant(s=scales(6) * np.float32(1e-6))),
        "QDQ206",
        "scale 's' lets codes reach 7.68e-06, below the normal numbers of float16 (6.1e-05)",
        "warning",
    ),
    Case(
        "blocks in float16",
        NARROWED_BLOCKS,
        changed(NARROWED_BLOCKS, constant(s=scales(4, 6) * np.float32(1e-5))),
        "QDQ206",
        "scale 's' lets codes reach 5.6e-06, below the normal numbers of float16 (6.1e-05)",
        "warning",
    ),
    Case(
        "one scale in float16",
        changed(NARROWED, constant(s=0.01)),
        changed(NARROWED, constant(s=1e-8)),
        "QDQ206",
        "scale 's' lets codes reach 1.28e-06, below the normal numbers of float16 (6.1e-05)",
        "warning",
    ),
    Case(
        "LeakyRelu",
        LEAKY,
        changed(LEAKY, constant(z=U8(0))),
        "QDQ207",
        "codes stand for 0 to 5.1, but LeakyRelu also gives negative numbers: all of them become 0",
        "warning",
    ),
    Case(
        "Tanh",
        TANH,
        changed(TANH, constant(z=U8(0))),
        "QDQ207",
        "codes stand for 0 to 1.992, but Tanh also gives negative numbers: all of them become 0",
        "warning",
    ),
    Case(
        "Relu",
        RELU,
        changed(RELU, constant(z=U8(255))),
        "QDQ207",
        "codes stand for -5.1 to 0, but Relu gives 0 to inf: all results become 0",
        "warning",
    ),
    Case(
        "Sigmoid",
        SIGNED,
        changed(SIGNED, constant(z=np.int8(127))),
        "QDQ207",
        "codes stand for -0.9961 to 0, but Sigmoid gives 0 to 1: all results become 0",
        "warning",
    ),
    Case(
        "Sigmoid",
        SIGMOID,
        changed(SIGMOID, constant(s=4e-8)),
        "QDQ217",
        "codes stand for 0 to 1.02e-05, but Sigmoid gives 0 to 1",
        "warning",
    ),
    Case("Tanh", TANH, changed(TANH, constant(s=1e-5)), "QDQ217", "codes stand for -0.00128 to 0.00127, but Tanh gives -1 to 1", "warning"),
    Case(
        "placeholder",
        PAIR,
        changed(PAIR, constant(s=2.0**-23)),
        "QDQ217",
        "codes stand for -1.526e-05 to 1.514e-05: the scale is the placeholder of an observer that saw no data",
        "warning",
    ),
    Case(
        "nothing seen",
        PAIR,
        changed(PAIR, constant(s=1e-12)),
        "QDQ217",
        "codes stand for -1.28e-10 to 1.27e-10: the tensor was all but 0 in calibration",
        "warning",
    ),
    Case(
        "Softmax",
        SOFTMAX,
        changed(SOFTMAX, constant(s=0.125)),
        "QDQ219",
        "codes stand for 0 to 31.88, but Softmax gives 0 to 1: 3 % of the codes can occur",
        "info",
    ),
    Case(
        "Tanh",
        TANH,
        changed(TANH, constant(s=0.1)),
        "QDQ219",
        "codes stand for -12.8 to 12.7, but Tanh gives -1 to 1: 8 % of the codes can occur",
        "info",
    ),
    Case(
        "Sigmoid",
        SIGNED,
        changed(SIGNED, constant(s=0.03, z=np.int8(0))),
        "QDQ219",
        "codes stand for -3.84 to 3.81, but Sigmoid gives 0 to 1: 13 % of the codes can occur",
        "info",
    ),
]
