"""Operators, attributes and operands that the imported opset does not have."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import helper

from qdqtool import dtypes as t
from tests.rules.case import (
    Case,
    Edit,
    attribute,
    changed,
    codes,
    constant,
    inserted,
    model,
    node,
    operands,
    operator,
    opset,
    port,
    results,
    scales,
    zeros,
)

PAIR = model(
    "g (float[4,6] x) => (float[4,6] y) { q = QuantizeLinear <axis = 1> (x, s, z) y = DequantizeLinear <axis = 1> (q, s, z) }",
    s=scales(6),
    z=zeros(t.INT8, 6),
)
TENSOR = model(
    "g (float[4,6] x) => (float[4,6] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }", 13, s=0.5, z=zeros(t.UINT8)
)
CONV = model(
    """g (float[1,2,4,4] x) => (float[1,2,4,4] y) {
        q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) w = DequantizeLinear <axis = 0> (c, cs) r = Conv(d, w) y = Relu(r)
    }""",
    13,
    s=0.5,
    z=zeros(t.INT8),
    c=codes(t.INT8, 2, 2, 1, 1),
    cs=scales(2),
)
MICROSOFT = model(
    """g (float[4,6] x) => (float[4,6] y) {
        q = com.microsoft.QuantizeLinear(x, s, z) y = com.microsoft.DequantizeLinear(q, s, z)
    }""",
    13,
    imports={"com.microsoft": 1},
    s=0.5,
    z=zeros(t.INT16),
)
QLINEAR = model(
    """g (uint8[1,2,4,4] x) => (uint8[1,2,4,4] y) { y = QLinearConv(x, s, z, c, s, z, s, z) }""",
    10,
    s=0.5,
    z=zeros(t.UINT8),
    c=codes(t.UINT8, 2, 2, 1, 1),
)
NORM = model("g (float[4,6] x) => (float[4,6] y) { y = LayerNormalization(x, w) }", 17, w=scales(6))
CAST = model("g (float[4,6] x) => (float[4,6] y) { c = Cast <to = 1> (x) y = Transpose <perm = [0, 1]> (c) }", 13)
GEMM = model(
    "g (float[2,4] x) => (float[2,6] y) { w = DequantizeLinear <axis = 1> (c, s) y = Gemm <alpha = 1.0> (x, w) }",
    13,
    c=codes(t.INT8, 4, 6),
    s=scales(6),
)
PAD = model('g (float[4] x) => (float[6] y) { y = Pad <mode = "wrap"> (x, p) }', 19, p=np.array([1, 1]))
SCATTER = model(
    'g (float[4] x, int64[1,1] i, float[1] u) => (float[4] y) { y = ScatterND <reduction = "max"> (x, i, u) }',
    18,
)
SUM = model("g (float[4] x) => (float[4] y) { q = QuantizeLinear(x, s) d = DequantizeLinear(q, s) y = Add(x, d) }", 14, s=0.5)
HALF = model(
    "g (float16[2,4] x) => (float16[2,6] y) { w = DequantizeLinear <axis = 1> (c, s) y = MatMul(x, w) }",
    19,
    c=codes(t.INT8, 4, 6),
    s=scales(6, dtype=np.float16),
)


def twice(name: str, **values: Any) -> Edit:
    """An attribute that is there once more."""
    return lambda proto: node(proto, name).attribute.extend(helper.make_attribute(k, v) for k, v in values.items())


CASES = (
    # 101
    Case(
        "QuantizeLinear at opset 9",
        TENSOR,
        changed(TENSOR, opset(9)),
        "QDQ101",
        "opset 9 has no operator QuantizeLinear (from opset 10)",
        more=("opset 9 has no operator DequantizeLinear (from opset 10)",),
    ),
    Case("QLinearConv at opset 9", QLINEAR, changed(QLINEAR, opset(9)), "QDQ101", "opset 9 has no operator QLinearConv (from opset 10)"),
    Case("a misspelled operator", CONV, changed(CONV, operator("r", "Convolution")), "QDQ101", "opset 13 has no operator Convolution"),
    Case(
        "a deprecated operator",
        CONV,
        changed(CONV, operator("y", "Scatter")),
        "QDQ101",
        "Scatter is deprecated at opset 13 (only up to opset 10)",
    ),
    Case(
        "an operator of ONNX Runtime in the main domain",
        NORM,
        changed(NORM, operator("y", "SimplifiedLayerNormalization")),
        "QDQ101",
        "opset 17 has no operator SimplifiedLayerNormalization, though ONNX Runtime has",
        "warning",
    ),
    # 105
    Case(
        "axis at opset 12",
        PAIR,
        changed(PAIR, opset(12)),
        "QDQ105",
        "QuantizeLinear has no attribute axis at opset 12 (from opset 13)",
        more=("DequantizeLinear has no attribute axis at opset 12 (from opset 13)",),
    ),
    Case(
        "block_size at opset 19",
        PAIR,
        changed(PAIR, opset(19), attribute("y", block_size=0)),
        "QDQ105",
        "DequantizeLinear has no attribute block_size at opset 19 (from opset 21)",
    ),
    Case(
        "precision at opset 21",
        PAIR,
        changed(PAIR, attribute("q", precision=1)),
        "QDQ105",
        "QuantizeLinear has no attribute precision at opset 21 (from opset 23)",
    ),
    Case(
        "saturate in com.microsoft",
        MICROSOFT,
        changed(MICROSOFT, attribute("q", saturate=1)),
        "QDQ105",
        "com.microsoft QuantizeLinear-1 has no attribute saturate",
    ),
    Case(
        "block_size in com.microsoft",
        MICROSOFT,
        changed(MICROSOFT, attribute("y", block_size=2)),
        "QDQ105",
        "com.microsoft DequantizeLinear-1 has no attribute block_size",
    ),
    Case(
        "a misspelled attribute",
        CONV,
        changed(CONV, attribute("r", paddings=[0, 0, 0, 0])),
        "QDQ105",
        "Conv has no attribute paddings at opset 13",
    ),
    # 106
    Case("Cast to nothing", CAST, changed(CAST, attribute("c", to=None)), "QDQ106", "Cast needs the attribute to at opset 13"),
    Case(
        "Concat without axis",
        CAST,
        changed(CAST, operator("y", "Concat"), attribute("y", perm=None)),
        "QDQ106",
        "Concat needs the attribute axis at opset 13",
    ),
    Case(
        "LRN without size",
        CAST,
        changed(CAST, operator("y", "LRN"), attribute("y", perm=None)),
        "QDQ106",
        "LRN needs the attribute size at opset 13",
    ),
    # 107
    Case(
        "a float as axis",
        PAIR,
        changed(PAIR, attribute("q", axis=1.0)),
        "QDQ107",
        "the attribute axis of QuantizeLinear must be of kind INT, not FLOAT",
    ),
    Case(
        "a list as axis",
        PAIR,
        changed(PAIR, attribute("y", axis=[1])),
        "QDQ107",
        "the attribute axis of DequantizeLinear must be of kind INT, not INTS",
    ),
    Case(
        "an integer as alpha",
        GEMM,
        changed(GEMM, attribute("y", alpha=1)),
        "QDQ107",
        "the attribute alpha of Gemm must be of kind FLOAT, not INT",
    ),
    # 108
    Case(
        "Pad by wrapping at opset 18",
        PAD,
        changed(PAD, opset(18)),
        "QDQ108",
        "Pad knows no mode=wrap at opset 18 (from opset 19)",
        "warning",
    ),
    Case(
        "ScatterND by maximum at opset 17",
        SCATTER,
        changed(SCATTER, opset(17)),
        "QDQ108",
        "ScatterND knows no reduction=max at opset 17 (from opset 18)",
        "warning",
    ),
    Case(
        "Pad by a word that never was", PAD, changed(PAD, attribute("y", mode="mirror")), "QDQ108", "Pad knows no mode=mirror at opset 19"
    ),
    # 109
    Case(
        "axis as an input",
        PAIR,
        changed(PAIR, constant(a=np.array(1)), operands("y", "q", "s", "z", "a")),
        "QDQ109",
        "DequantizeLinear has at most 3 inputs at opset 21, not 4",
    ),
    Case(
        "a quantize with four inputs",
        TENSOR,
        changed(TENSOR, operands("q", "x", "s", "z", "z")),
        "QDQ109",
        "QuantizeLinear has at most 3 inputs at opset 13, not 4",
    ),
    Case("Relu of two inputs", CONV, changed(CONV, operands("y", "r", "r")), "QDQ109", "Relu has at most 1 input at opset 13, not 2"),
    # 110
    Case(
        "a quantize without scale",
        TENSOR,
        changed(TENSOR, operands("q", "x")),
        "QDQ110",
        "QuantizeLinear needs its input y_scale at opset 13",
    ),
    Case(
        "a dequantize with an empty scale",
        TENSOR,
        changed(TENSOR, operands("y", "q", "", "z")),
        "QDQ110",
        "DequantizeLinear needs its input x_scale at opset 13",
    ),
    Case(
        "QLinearConv without output zero point",
        QLINEAR,
        changed(QLINEAR, operands("y", "x", "s", "z", "c", "s", "z", "s")),
        "QDQ110",
        "QLinearConv needs its input y_zero_point at opset 10",
    ),
    # 111
    Case(
        "Relu of codes",
        CONV,
        changed(CONV, operands("y", "q"), port("y", t.INT8, [1, 2, 4, 4])),
        "QDQ111",
        "Relu accepts int8 from opset 14",
    ),
    Case("Conv of codes", CONV, changed(CONV, operands("r", "q", "w")), "QDQ111", "Conv accepts no int8"),
    Case(
        "Softmax of codes",
        TENSOR,
        changed(TENSOR, inserted(1, "Softmax", ["q"], ["p"]), operands("y", "p", "s", "z")),
        "QDQ111",
        "Softmax accepts no uint8",
    ),
    # 112
    Case(
        "MatMul of float16 and float32",
        HALF,
        changed(HALF, constant(s=scales(6))),
        "QDQ112",
        "MatMul wants one type for A, B and Y at opset 19, not float16 and float32",
    ),
    Case(
        "MatMul of a Cast",
        HALF,
        changed(HALF, inserted(0, "Cast", ["x"], ["xc"], to=1), operands("y", "xc", "w")),
        "QDQ112",
        "MatMul wants one type for A, B and Y at opset 19, not float32 and float16",
    ),
    Case(
        "Add of codes and real values",
        SUM,
        changed(SUM, operands("y", "x", "q")),
        "QDQ112",
        "Add wants one type for A, B and C at opset 14, not float32 and uint8",
    ),
    # 129
    Case("axis twice", PAIR, changed(PAIR, twice("q", axis=1)), "QDQ129", "the node has the attribute axis 2 times"),
    Case("perm twice", CAST, changed(CAST, twice("y", perm=[0, 1])), "QDQ129", "the node has the attribute perm 2 times"),
    Case("alpha twice, and not the same", GEMM, changed(GEMM, twice("y", alpha=2.0)), "QDQ129", "the node has the attribute alpha 2 times"),
    # by the table of com.microsoft
    Case(
        "com.microsoft, four inputs",
        MICROSOFT,
        changed(MICROSOFT, operands("q", "x", "s", "z", "z")),
        "QDQ109",
        "com.microsoft QuantizeLinear-1 has at most 3 inputs, not 4",
    ),
    Case(
        "com.microsoft, two outputs",
        MICROSOFT,
        changed(MICROSOFT, results("y", "y", "y2")),
        "QDQ109",
        "com.microsoft DequantizeLinear-1 has at most 1 output, not 2",
    ),
    Case(
        "com.microsoft, an empty scale",
        MICROSOFT,
        changed(MICROSOFT, operands("y", "q", "", "z")),
        "QDQ110",
        "com.microsoft DequantizeLinear-1 needs its input x_scale",
    ),
    Case(
        "com.microsoft, a float as axis",
        MICROSOFT,
        changed(MICROSOFT, attribute("q", axis=1.0)),
        "QDQ107",
        "the attribute axis of com.microsoft QuantizeLinear-1 must be of kind INT, not FLOAT",
    ),
)
