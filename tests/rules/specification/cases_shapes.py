"""Shapes of scales and zero points, axes and blocks that do not fit: the 18 forms of which onnx.checker notices none."""

from __future__ import annotations

import numpy as np

from qdqtool import dtypes as t
from tests.rules.case import Case, attribute, changed, codes, constant, model, operands, opset, scales, zeros

WEIGHT = model(
    "g (float[2,4] x) => (float[2,6] y) { w = DequantizeLinear <axis = 1> (c, s, z) y = MatMul(x, w) }",
    21,
    c=codes(t.INT8, 4, 6),
    s=scales(6),
    z=zeros(t.INT8, 6),
)
PLAIN = model(
    "g (float[2,4] x) => (float[2,6] y) { w = DequantizeLinear <axis = 1> (c, s) y = MatMul(x, w) }", 13, c=codes(t.INT8, 4, 6), s=scales(6)
)
PAIR = model(
    "g (float[4,6] x) => (float[4,6] y) { q = QuantizeLinear <axis = -1> (x, s, z) y = DequantizeLinear <axis = -1> (q, s, z) }",
    13,
    s=scales(6),
    z=zeros(t.UINT8, 6),
)
QUANTIZE = model("g (float[4,6] x) => (int8[4,6] q) { q = QuantizeLinear <axis = 0> (x, s, z) }", 21, s=scales(4), z=zeros(t.INT8, 4))
TENSOR = model(
    "g (float[4,6] x) => (float[4,6] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }", 13, s=0.5, z=zeros(t.INT8)
)
BIAS = model("g () => (float[6] y) { y = DequantizeLinear <axis = 0> (c, s) }", 13, c=codes(t.INT32, 6), s=scales(6))
VECTOR = model("g (float[6] x) => (uint8[6] q) { q = QuantizeLinear <axis = 0> (x, s, z) }", 13, s=scales(6), z=zeros(t.UINT8, 6))
MICROSOFT = model(
    "g () => (float[6] y) { y = com.microsoft.DequantizeLinear <axis = 0> (c, s, z) }",
    13,
    imports={"com.microsoft": 1},
    c=codes(t.UINT16, 6),
    s=scales(6),
    z=zeros(t.UINT16, 6),
)
CONV = model(
    """g (float[1,3,4,4] x) => (float[1,2,4,4] y) { w = DequantizeLinear <axis = 0> (c, s, z) y = Conv(x, w) }""",
    13,
    c=codes(t.INT8, 2, 3, 1, 1),
    s=scales(2),
    z=zeros(t.INT8, 2),
)
BLOCKS = model(
    "g (float[2,4] x) => (float[2,6] y) { w = DequantizeLinear <axis = 1, block_size = 3> (c, s, z) y = MatMul(x, w) }",
    21,
    c=codes(t.INT4, 4, 6),
    s=scales(4, 2),
    z=zeros(t.INT4, 4, 2),
)
QUANTIZE_BLOCKS = model(
    "g (float[4,6] x) => (int8[4,6] q) { q = QuantizeLinear <axis = 0, block_size = 2> (x, s, z) }",
    21,
    s=scales(2, 6),
    z=zeros(t.INT8, 2, 6),
)
RAGGED = model(
    "g () => (float[4,7] y) { y = DequantizeLinear <axis = 1, block_size = 3> (c, s) }", 21, c=codes(t.UINT4, 4, 7), s=scales(4, 3)
)
SQUARE = model(
    "g () => (float[4,4] y) { y = DequantizeLinear <axis = 0, block_size = 2> (c, s) }", 21, c=codes(t.INT8, 4, 4), s=scales(2, 4)
)
OLD = model("g (float[4,6] x) => (float[4,6] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }", 10, s=0.5, z=zeros(t.UINT8))
OLD_CONV = model(
    "g (float[1,3,4,4] x) => (float[1,2,4,4] y) { w = DequantizeLinear(c, s) y = Conv(x, w) }", 10, c=codes(t.INT8, 2, 3, 1, 1), s=0.5
)
OLD_WEIGHT = model(
    "g (float[2,4] x) => (float[2,6] y) { w = DequantizeLinear(c, s, z) y = MatMul(x, w) }",
    12,
    c=codes(t.INT8, 4, 6),
    s=0.5,
    z=zeros(t.INT8),
)

CASES = (
    # 130
    Case(
        "axis 2 of a matrix",
        WEIGHT,
        changed(WEIGHT, attribute("w", axis=2)),
        "QDQ130",
        "axis 2 does not exist in an input of rank 2 (x 'c' [4, 6], scale 's' [6])",
    ),
    Case(
        "axis -3 of a matrix",
        PAIR,
        changed(PAIR, attribute("q", axis=-3)),
        "QDQ130",
        "axis -3 does not exist in an input of rank 2 (x 'x' [4, 6], scale 's' [6])",
    ),
    Case(
        "axis 2 for blocks",
        BLOCKS,
        changed(BLOCKS, attribute("w", axis=2)),
        "QDQ130",
        "axis 2 does not exist in an input of rank 2 (x 'c' [4, 6], scale 's' [4, 2])",
    ),
    # 131
    Case(
        "a bias without axis",
        BIAS,
        changed(BIAS, attribute("y", axis=None)),
        "QDQ131",
        "axis is 1 by default: axis 1 does not exist in an input of rank 1 (x 'c' [6], scale 's' [6])",
    ),
    Case(
        "a quantize of a vector without axis",
        VECTOR,
        changed(VECTOR, attribute("q", axis=None)),
        "QDQ131",
        "axis is 1 by default: axis 1 does not exist in an input of rank 1 (x 'x' [6], scale 's' [6])",
    ),
    Case(
        "the same in com.microsoft",
        MICROSOFT,
        changed(MICROSOFT, attribute("y", axis=None)),
        "QDQ131",
        "axis is 1 by default: axis 1 does not exist in an input of rank 1 (x 'c' [6], scale 's' [6])",
    ),
    # 132
    Case(
        "a scale shaped for broadcasting",
        CONV,
        changed(CONV, constant(s=scales(2, 1, 1, 1), z=zeros(t.INT8, 2, 1, 1, 1))),
        "QDQ132",
        "without block_size a scale is a scalar or a vector, not of rank 4 (x 'c' [2, 3, 1, 1], scale 's' [2, 1, 1, 1])",
    ),
    Case(
        "a scale [1, 1]",
        PLAIN,
        changed(PLAIN, constant(s=scales(1, 1))),
        "QDQ132",
        "without block_size a scale is a scalar or a vector, not of rank 2 (x 'c' [4, 6], scale 's' [1, 1])",
    ),
    Case(
        "blocks without block_size",
        BLOCKS,
        changed(BLOCKS, attribute("w", block_size=None)),
        "QDQ132",
        "without block_size a scale is a scalar or a vector, not of rank 2 (x 'c' [4, 6], scale 's' [4, 2])",
    ),
    # 133
    Case(
        "too few scales",
        PLAIN,
        changed(PLAIN, constant(s=scales(5))),
        "QDQ133",
        "axis 1 has length 6 and asks for as many scales, not 5 (x 'c' [4, 6], scale 's' [5])",
    ),
    Case(
        "scales of the other axis",
        QUANTIZE,
        changed(QUANTIZE, attribute("q", axis=1)),
        "QDQ133",
        "axis 1 has length 6 and asks for as many scales, not 4 (x 'x' [4, 6], scale 's' [4])",
    ),
    Case(
        "the default axis where 0 is meant",
        CONV,
        changed(CONV, attribute("w", axis=None)),
        "QDQ133",
        "axis 1 has length 3 and asks for as many scales, not 2 (x 'c' [2, 3, 1, 1], scale 's' [2])",
    ),
    # 134
    Case(
        "scalar zero point, several scales",
        WEIGHT,
        changed(WEIGHT, constant(z=zeros(t.INT8))),
        "QDQ134",
        "scale and zero point have different shapes (scale 's' [6], zero point 'z' [])",
    ),
    Case(
        "several zero points, scalar scale",
        QUANTIZE,
        changed(QUANTIZE, constant(s=0.5)),
        "QDQ134",
        "scale and zero point have different shapes (scale 's' [], zero point 'z' [4])",
    ),
    Case(
        "a zero point for every row of blocks",
        BLOCKS,
        changed(BLOCKS, constant(z=zeros(t.INT4, 4, 1))),
        "QDQ134",
        "scale and zero point have different shapes (scale 's' [4, 2], zero point 'z' [4, 1])",
    ),
    Case(
        "one zero point, several scales",
        CONV,
        changed(CONV, constant(z=zeros(t.INT8, 1))),
        "QDQ134",
        "scale and zero point have different shapes (scale 's' [2], zero point 'z' [1])",
    ),
    # 135
    Case(
        "zero point [1], scale []",
        TENSOR,
        changed(TENSOR, constant(z1=zeros(t.INT8, 1)), operands("q", "x", "s", "z1")),
        "QDQ135",
        "scale and zero point have different shapes (scale 's' [], zero point 'z1' [1])",
        "warning",
    ),
    Case(
        "zero point [], scale [1]",
        TENSOR,
        changed(TENSOR, constant(s1=np.full(1, 0.5, np.float32)), operands("y", "q", "s1", "z")),
        "QDQ135",
        "scale and zero point have different shapes (scale 's1' [1], zero point 'z' [])",
        "warning",
    ),
    Case(
        "the same at opset 10",
        OLD_WEIGHT,
        changed(OLD_WEIGHT, constant(z=zeros(t.INT8, 1))),
        "QDQ135",
        "scale and zero point have different shapes (scale 's' [], zero point 'z' [1])",
        "warning",
    ),
    # 136
    Case("block_size -1", BLOCKS, changed(BLOCKS, attribute("w", block_size=-1)), "QDQ136", "block_size -1 is negative"),
    Case("block_size -3", QUANTIZE_BLOCKS, changed(QUANTIZE_BLOCKS, attribute("q", block_size=-3)), "QDQ136", "block_size -3 is negative"),
    Case(
        "block_size -1 with one scale",
        changed(TENSOR, opset(21)),
        changed(TENSOR, opset(21), attribute("q", block_size=-1)),
        "QDQ136",
        "block_size -1 is negative",
    ),
    # 137
    Case(
        "block_size with a scalar scale",
        changed(TENSOR, opset(21)),
        changed(TENSOR, opset(21), attribute("y", block_size=2)),
        "QDQ137",
        "with block_size the scale has the rank of the input, 2, not 0 (x 'q' [4, 6], scale 's' [])",
    ),
    Case(
        "block_size with a vector of scales",
        WEIGHT,
        changed(WEIGHT, attribute("w", block_size=2)),
        "QDQ137",
        "with block_size the scale has the rank of the input, 2, not 1 (x 'c' [4, 6], scale 's' [6])",
    ),
    Case(
        "blocked scales of another rank",
        BLOCKS,
        changed(BLOCKS, constant(s=scales(4, 2, 1), z=zeros(t.INT4, 4, 2, 1))),
        "QDQ137",
        "with block_size the scale has the rank of the input, 2, not 3 (x 'c' [4, 6], scale 's' [4, 2, 1])",
    ),
    # 138
    Case(
        "more scales than blocks",
        BLOCKS,
        changed(BLOCKS, constant(s=scales(4, 3), z=zeros(t.INT4, 4, 3))),
        "QDQ138",
        "blocks of 3 along axis 1 of length 6 ask for 2 scales there, not 3 (x 'c' [4, 6], scale 's' [4, 3])",
    ),
    Case(
        "fewer scales than blocks",
        RAGGED,
        changed(RAGGED, constant(s=scales(4, 2))),
        "QDQ138",
        "blocks of 3 along axis 1 of length 7 ask for 3 scales there, not 2 (x 'c' [4, 7], scale 's' [4, 2])",
    ),
    Case(
        "a block_size that gives another count",
        QUANTIZE_BLOCKS,
        changed(QUANTIZE_BLOCKS, attribute("q", block_size=3, axis=0), constant(s=scales(3, 6), z=zeros(t.INT8, 3, 6))),
        "QDQ138",
        "blocks of 3 along axis 0 of length 4 ask for 2 scales there, not 3 (x 'x' [4, 6], scale 's' [3, 6])",
    ),
    # 139
    Case(
        "the wrong axis for blocks",
        BLOCKS,
        changed(BLOCKS, attribute("w", axis=0)),
        "QDQ139",
        "blocks lie along axis 0, so the scale has length 6 along axis 1, not 2 (x 'c' [4, 6], scale 's' [4, 2])",
    ),
    Case(
        "blocks along two axes",
        BLOCKS,
        changed(BLOCKS, constant(s=scales(2, 2), z=zeros(t.INT4, 2, 2))),
        "QDQ139",
        "blocks lie along axis 1, so the scale has length 4 along axis 0, not 2 (x 'c' [4, 6], scale 's' [2, 2])",
    ),
    Case(
        "scales for a part of the columns",
        QUANTIZE_BLOCKS,
        changed(QUANTIZE_BLOCKS, constant(s=scales(2, 5), z=zeros(t.INT8, 2, 5))),
        "QDQ139",
        "blocks lie along axis 0, so the scale has length 6 along axis 1, not 5 (x 'x' [4, 6], scale 's' [2, 5])",
    ),
    Case(
        "the wrong axis of a square",
        SQUARE,
        changed(SQUARE, attribute("y", axis=1)),
        "QDQ139",
        "blocks lie along axis 1, so the scale has length 4 along axis 0, not 2 (x 'c' [4, 4], scale 's' [2, 4])",
    ),
    # 140
    Case(
        "a vector at opset 10",
        OLD,
        changed(OLD, constant(s=scales(6), z=zeros(t.UINT8, 6))),
        "QDQ140",
        "ai.onnx QuantizeLinear-10 has one scale only; runtimes that accept several scale along axis 1 (scale 's' [6])",
        "warning",
        more=("ai.onnx DequantizeLinear-10 has one scale only; runtimes that accept several scale along axis 1 (scale 's' [6])",),
    ),
    Case(
        "scales for channels at opset 10",
        OLD_CONV,
        changed(OLD_CONV, constant(s=scales(3))),
        "QDQ140",
        "ai.onnx DequantizeLinear-10 has one scale only; runtimes that accept several scale along axis 1 (scale 's' [3])",
        "warning",
    ),
    Case(
        "a vector at opset 12",
        OLD_WEIGHT,
        changed(OLD_WEIGHT, constant(s=scales(6), z=zeros(t.INT8, 6))),
        "QDQ140",
        "ai.onnx DequantizeLinear-10 has one scale only; runtimes that accept several scale along axis 1 (scale 's' [6])",
        "warning",
    ),
)
