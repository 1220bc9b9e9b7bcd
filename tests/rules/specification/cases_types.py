"""Types of codes, scales, zero points and real values that the imported opset does not allow, or that contradict each other."""

from __future__ import annotations

import numpy as np
from onnx import ValueInfoProto, helper

from qdqtool import dtypes as t
from qdqtool.dtypes import ElementType
from tests.rules.case import Case, Edit, attribute, changed, codes, constant, inserted, model, operands, opset, port, scales, zeros

WEIGHT = model(
    "g (float[2,4] x) => (float[2,6] y) { w = DequantizeLinear <axis = 1> (c, s, z) y = MatMul(x, w) }",
    21,
    c=codes(t.INT8, 4, 6),
    s=scales(6),
    z=zeros(t.INT8, 6),
)
SHORT = model(
    "g (float[2,4] x) => (float[2,6] y) { w = DequantizeLinear <axis = 1> (c, s) y = MatMul(x, w) }",
    21,
    c=codes(t.INT16, 4, 6),
    s=scales(6),
)
FLOAT8 = model(
    "g (float[2,4] x) => (float[2,6] y) { w = DequantizeLinear <axis = 1> (c, s, z) y = MatMul(x, w) }",
    19,
    c=codes(t.FLOAT8E4M3FN, 4, 6),
    s=scales(6),
    z=zeros(t.FLOAT8E4M3FN, 6),
)
FLOAT8_PAIR = model(
    "g (float[4,6] x) => (float[4,6] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }", 19, s=0.5, z=zeros(t.FLOAT8E5M2)
)
PAIR = model("g (float[4,6] x) => (float[4,6] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }", 21, s=0.5, z=zeros(t.INT8))
PAIR_23 = changed(PAIR, opset(23))
NAMED = model("g (float[4,6] x) => (float[4,6] y) { q = QuantizeLinear <output_dtype = 3> (x, s) y = DequantizeLinear(q, s) }", 21, s=0.5)
HALF = model(
    "g (float16[4,6] x) => (float16[4,6] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }",
    21,
    s=np.float16(0.5),
    z=zeros(t.INT8),
)
MIXED = model(
    "g (float16[4,6] x) => (float[4,6] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }", 23, s=0.5, z=zeros(t.INT8)
)
MICROSOFT = model(
    "g (float[4,6] x) => (float[4,6] y) { q = com.microsoft.QuantizeLinear(x, s, z) y = com.microsoft.DequantizeLinear(q, s, z) }",
    21,
    imports={"com.microsoft": 1},
    s=0.5,
    z=zeros(t.INT4),
)
CODES = model("g (float[4,6] x) => (uint8[4,6] q) { q = QuantizeLinear(x, s) }", 21, s=0.5)
BIAS = model("g () => (float[6] y) { y = DequantizeLinear <axis = 0> (c, s) }", 13, c=codes(t.INT32, 6), s=scales(6))
BLOCKS = model(
    "g () => (float[4,6] y) { y = DequantizeLinear <axis = 1, block_size = 3, output_dtype = 1> (c, s) }",
    24,
    c=codes(t.INT8, 4, 6),
    s=scales(4, 2),
)
BLOCKS_Q = model(
    "g (float[4,6] x) => (int8[4,6] q) { q = QuantizeLinear <axis = 1, block_size = 3, precision = 1> (x, s, z) }",
    24,
    s=scales(4, 2),
    z=zeros(t.INT8, 4, 2),
)
E8M0 = np.full((4, 2), 2.0).astype(t.FLOAT8E8M0.numpy)

CAST = model("g (float[4] x) => (float[4] y) { c = Cast <to = 6> (x) y = Cast <to = 1> (c) }", 21)


def value(name: str, code: int, *shape: int) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, code, shape)


def listed(name: str, dtype: ElementType, *shape: int) -> Edit:
    return lambda proto: proto.graph.input.append(value(name, dtype.code, *shape))


def described(name: str, dtype: ElementType, *shape: int) -> Edit:
    return lambda proto: proto.graph.value_info.append(value(name, dtype.code, *shape))


CASES = (
    # 113
    Case("int16 at opset 20", SHORT, changed(SHORT, opset(20)), "QDQ113", "ai.onnx DequantizeLinear-19 has no type int16 (from 21 on)"),
    Case(
        "a quantize to int4 at opset 19",
        PAIR,
        changed(PAIR, opset(19), constant(z=zeros(t.INT4))),
        "QDQ113",
        "ai.onnx QuantizeLinear-19 has no type int4 (from 21 on)",
        more=("ai.onnx DequantizeLinear-19 has no type int4 (from 21 on)",),
    ),
    Case(
        "float8 at opset 18",
        FLOAT8,
        changed(FLOAT8, opset(18)),
        "QDQ113",
        "ai.onnx DequantizeLinear-13 has no type float8e4m3fn (from 19 on)",
    ),
    Case(
        "int2 at opset 24",
        SHORT,
        changed(SHORT, opset(24), constant(c=codes(t.INT2, 4, 6))),
        "QDQ113",
        "ai.onnx DequantizeLinear-24 has no type int2 (from 25 on)",
    ),
    Case("int64 codes", SHORT, changed(SHORT, constant(c=codes(t.INT64, 4, 6))), "QDQ113", "ai.onnx DequantizeLinear-21 has no type int64"),
    Case(
        "float8 in com.microsoft",
        MICROSOFT,
        changed(MICROSOFT, constant(z=zeros(t.FLOAT8E4M3FN))),
        "QDQ113",
        "com.microsoft QuantizeLinear-1 has no type float8e4m3fn",
        more=("com.microsoft DequantizeLinear-1 has no type float8e4m3fn",),
    ),
    # 114
    Case(
        "a quantize of float16 at opset 13",
        HALF,
        changed(HALF, opset(13), constant(s=0.5), port("y", t.FLOAT, [4, 6])),
        "QDQ114",
        "ai.onnx QuantizeLinear-13 has no input type float16 (from 19 on)",
    ),
    Case(
        "a quantize of float64",
        PAIR,
        changed(PAIR, port("x", t.DOUBLE, [4, 6])),
        "QDQ114",
        "ai.onnx QuantizeLinear-21 has no input type float64",
    ),
    Case(
        "a quantize of codes", PAIR, changed(PAIR, port("x", t.INT8, [4, 6])), "QDQ114", "ai.onnx QuantizeLinear-21 has no input type int8"
    ),
    # 115
    Case(
        "a float16 scale at opset 13",
        PAIR,
        changed(PAIR, opset(13), constant(s=np.float16(0.5)), port("y", t.FLOAT16, [4, 6])),
        "QDQ115",
        "ai.onnx QuantizeLinear-13 has no scale type float16 (from 19 on)",
        more=("ai.onnx DequantizeLinear-13 has no scale type float16 (from 19 on)",),
    ),
    Case(
        "a float64 scale",
        WEIGHT,
        changed(WEIGHT, constant(s=scales(6, dtype=np.float64))),
        "QDQ115",
        "ai.onnx DequantizeLinear-21 has no scale type float64",
    ),
    Case(
        "a float8e8m0 scale at opset 23",
        BLOCKS,
        changed(BLOCKS, opset(23), constant(s=E8M0)),
        "QDQ115",
        "ai.onnx DequantizeLinear-23 has no scale type float8e8m0 (from 24 on)",
    ),
    # 116
    Case(
        "float16 input and float32 scale at opset 22",
        MIXED,
        changed(MIXED, opset(22)),
        "QDQ116",
        "ai.onnx QuantizeLinear-21 needs input and scale of one type, not float16 and float32",
    ),
    Case(
        "float32 input and float16 scale",
        PAIR,
        changed(PAIR, constant(h=np.float16(0.5)), operands("q", "x", "h", "z")),
        "QDQ116",
        "ai.onnx QuantizeLinear-21 needs input and scale of one type, not float32 and float16",
    ),
    Case(
        "the same in com.microsoft",
        MICROSOFT,
        changed(MICROSOFT, constant(h=np.float16(0.5)), operands("q", "x", "h", "z")),
        "QDQ116",
        "com.microsoft QuantizeLinear-1 needs input and scale of one type, not float32 and float16",
    ),
    # 117
    Case(
        "int8 codes with a uint8 zero point",
        WEIGHT,
        changed(WEIGHT, constant(z=zeros(t.UINT8, 6))),
        "QDQ117",
        "the codes are int8, their zero point uint8",
    ),
    Case(
        "a quantize that lost its zero point",
        PAIR,
        changed(PAIR, operands("q", "x", "s")),
        "QDQ117",
        "the codes are uint8, their zero point int8",
    ),
    Case(
        "float8 codes with a zero point of another float8",
        FLOAT8,
        changed(FLOAT8, constant(z=zeros(t.FLOAT8E5M2, 6))),
        "QDQ117",
        "the codes are float8e4m3fn, their zero point float8e5m2",
    ),
    # 118
    Case(
        "uint8 beside an int8 zero point",
        PAIR,
        changed(PAIR, attribute("q", output_dtype=t.UINT8.code)),
        "QDQ118",
        "output_dtype says uint8, the zero point is int8",
    ),
    Case(
        "int4 beside an int8 zero point",
        PAIR,
        changed(PAIR, attribute("q", output_dtype=t.INT4.code)),
        "QDQ118",
        "output_dtype says int4, the zero point is int8",
    ),
    Case(
        "int16 beside a zero point at opset 23",
        PAIR_23,
        changed(PAIR_23, attribute("q", output_dtype=t.INT16.code)),
        "QDQ118",
        "output_dtype says int16, the zero point is int8",
    ),
    # 119
    Case(
        "a quantize to float32",
        CODES,
        changed(CODES, attribute("q", output_dtype=t.FLOAT.code), port("q", t.FLOAT, [4, 6])),
        "QDQ119",
        "output_dtype 1 (float32) is nothing that ai.onnx QuantizeLinear-21 can give",
    ),
    Case(
        "a dequantize to int8",
        PAIR_23,
        changed(PAIR_23, attribute("y", output_dtype=t.INT8.code)),
        "QDQ119",
        "output_dtype 3 (int8) is nothing that ai.onnx DequantizeLinear-23 can give",
    ),
    Case(
        "a quantize to int2 at opset 21",
        NAMED,
        changed(NAMED, attribute("q", output_dtype=t.INT2.code)),
        "QDQ119",
        "output_dtype 26 (int2) is nothing that ai.onnx QuantizeLinear-21 can give",
        also=("QDQ113",),
    ),
    Case(
        "a dequantize to a type that does not exist",
        PAIR_23,
        changed(PAIR_23, attribute("y", output_dtype=99)),
        "QDQ119",
        "output_dtype 99 (no type) is nothing that ai.onnx DequantizeLinear-23 can give",
    ),
    # 120
    Case(
        "a division in int8",
        PAIR_23,
        changed(PAIR_23, attribute("q", precision=t.INT8.code)),
        "QDQ120",
        "precision 3 (int8) is nothing to divide in",
    ),
    Case(
        "a division in float8",
        PAIR_23,
        changed(PAIR_23, attribute("q", precision=t.FLOAT8E4M3FN.code)),
        "QDQ120",
        "precision 17 (float8e4m3fn) is nothing to divide in",
    ),
    Case(
        "a division in a type that does not exist",
        PAIR_23,
        changed(PAIR_23, attribute("q", precision=99)),
        "QDQ120",
        "precision 99 (no type) is nothing to divide in",
    ),
    # 121
    Case(
        "uint8 declared as int8",
        CODES,
        changed(CODES, port("q", t.INT8, [4, 6])),
        "QDQ121",
        "result 'q' is declared as int8, the node gives uint8",
    ),
    Case(
        "float32 declared as float16",
        PAIR,
        changed(PAIR, port("y", t.FLOAT16, [4, 6])),
        "QDQ121",
        "result 'y' is declared as float16, the node gives float32",
    ),
    Case(
        "float16 declared as float32",
        HALF,
        changed(HALF, port("y", t.FLOAT, [4, 6])),
        "QDQ121",
        "result 'y' is declared as float32, the node gives float16",
    ),
    # 122
    Case(
        "another length declared",
        PAIR,
        changed(PAIR, port("y", t.FLOAT, [4, 7])),
        "QDQ122",
        "result 'y' is declared as [4, 7], the input is [4, 6]",
        "warning",
    ),
    Case(
        "another rank declared",
        CODES,
        changed(CODES, port("q", t.UINT8, [24])),
        "QDQ122",
        "result 'q' is declared as [24], the input is [4, 6]",
        "warning",
    ),
    Case(
        "a weight declared transposed",
        BIAS,
        changed(BIAS, port("y", t.FLOAT, [1, 6])),
        "QDQ122",
        "result 'y' is declared as [1, 6], the input is [6]",
        "warning",
    ),
    # 123
    Case(
        "neither zero point nor type",
        PAIR,
        changed(PAIR, operands("q", "x", "s"), operands("y", "q", "s")),
        "QDQ123",
        "without zero point and output_dtype the result is uint8",
        "info",
    ),
    Case(
        "no type after all",
        NAMED,
        changed(NAMED, attribute("q", output_dtype=None)),
        "QDQ123",
        "without zero point and output_dtype the result is uint8",
        "info",
    ),
    Case(
        "type 0 is no type",
        NAMED,
        changed(NAMED, attribute("q", output_dtype=0)),
        "QDQ123",
        "without zero point and output_dtype the result is uint8",
        "info",
    ),
    # 124
    Case(
        "a dequantize with a float8 zero point of 1",
        FLOAT8,
        changed(FLOAT8, constant(z=np.ones(6).astype(t.FLOAT8E4M3FN.numpy))),
        "QDQ124",
        "6 of 6 values of the float8e4m3fn zero point 'z' are not 0: ort@1.32 does not run it",
    ),
    Case(
        "a quantize with a float8 zero point of 1",
        FLOAT8_PAIR,
        changed(FLOAT8_PAIR, constant(o=np.ones(()).astype(t.FLOAT8E5M2.numpy)), operands("q", "x", "s", "o")),
        "QDQ124",
        "1 of 1 values of the float8e5m2 zero point 'o' are not 0: runtimes take no notice of the value",
        "warning",
    ),
    Case(
        "a pair with a float8 zero point of 1",
        FLOAT8_PAIR,
        changed(FLOAT8_PAIR, constant(z=np.ones(()).astype(t.FLOAT8E5M2.numpy))),
        "QDQ124",
        "1 of 1 values of the float8e5m2 zero point 'z' are not 0: ort@1.32 does not run it",
        more=("1 of 1 values of the float8e5m2 zero point 'z' are not 0: runtimes take no notice of the value",),
    ),
    # 125
    Case(
        "an int32 zero point of 3",
        BIAS,
        changed(BIAS, constant(z=np.full(6, 3, np.int32)), operands("y", "c", "s", "z")),
        "QDQ125",
        "int32 codes have a zero point 'z', which the specification does not know",
        "warning",
    ),
    Case(
        "an int32 zero point of 0",
        BIAS,
        changed(BIAS, constant(z=np.zeros(6, np.int32)), operands("y", "c", "s", "z")),
        "QDQ125",
        "1 dequantize of int32 codes has a zero point of 0, first 'z'",
        "info",
    ),
    Case(
        "an int32 zero point that a Cast makes",
        BIAS,
        changed(
            BIAS,
            constant(z=np.zeros(6, np.int64)),
            inserted(0, "Abs", ["z"], ["a"]),
            inserted(1, "Cast", ["a"], ["b"], to=6),
            operands("y", "c", "s", "b"),
        ),
        "QDQ125",
        "int32 codes have a zero point 'b', which the specification does not know",
        "warning",
    ),
    # 126
    Case(
        "a dequantize by float8e8m0",
        BLOCKS,
        changed(BLOCKS, attribute("y", output_dtype=None), constant(s=E8M0)),
        "QDQ126",
        "the scale is float8e8m0 and no output_dtype says in which type to compute",
    ),
    Case(
        "a quantize by float8e8m0",
        BLOCKS_Q,
        changed(BLOCKS_Q, attribute("q", precision=None), constant(s=E8M0)),
        "QDQ126",
        "the scale is float8e8m0 and no precision says in which type to compute",
        "warning",
    ),
    Case(
        "a dequantize by float8e8m0 at opset 25",
        changed(BLOCKS, opset(25)),
        changed(BLOCKS, opset(25), attribute("y", output_dtype=0), constant(s=E8M0)),
        "QDQ126",
        "the scale is float8e8m0 and no output_dtype says in which type to compute",
    ),
    # 127
    Case(
        "a scale listed as a float16 input",
        PAIR,
        changed(PAIR, listed("s", t.FLOAT16)),
        "QDQ127",
        "graph input 's' is declared as float16, the initializer is float32",
    ),
    Case(
        "a scale listed with another shape",
        PAIR,
        changed(PAIR, listed("s", t.FLOAT, 2)),
        "QDQ127",
        "graph input 's' is declared as [2], the initializer is []",
    ),
    Case(
        "weights described as they were",
        WEIGHT,
        changed(WEIGHT, described("c", t.FLOAT, 4, 6)),
        "QDQ127",
        "value_info 'c' is declared as float32, the initializer is int8",
        "warning",
    ),
    Case(
        "weights described transposed",
        WEIGHT,
        changed(WEIGHT, described("c", t.INT8, 6, 4)),
        "QDQ127",
        "value_info 'c' is declared as [6, 4], the initializer is [4, 6]",
        "warning",
    ),
    # 128
    Case("an input without type", PAIR, changed(PAIR, lambda m: m.graph.input[0].ClearField("type")), "QDQ128", "input 'x' has no type"),
    Case(
        "an output without type",
        PAIR,
        changed(PAIR, lambda m: m.graph.output[0].ClearField("type")),
        "QDQ128",
        "output 'y' has no type",
        "warning",
    ),
    Case(
        "a value of an unknown type",
        PAIR,
        changed(PAIR, lambda m: m.graph.value_info.append(value("q", 99))),
        "QDQ128",
        "value 'q' has the unknown element type 99",
    ),
    # 121, of others
    Case(
        "a Cast declared otherwise",
        CAST,
        changed(CAST, described("c", t.INT64, 4)),
        "QDQ121",
        "result 'c' is declared as int64, the node gives int32",
    ),
)
