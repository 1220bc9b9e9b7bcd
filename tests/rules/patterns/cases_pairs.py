"""Steps that face each other and do not fit, or do nothing."""

from __future__ import annotations

import numpy as np
from onnx import helper

from qdqtool import dtypes as t
from qdqtool.dtypes import ElementType
from tests.rules.case import Case, Edit, changed, codes, constant, inserted, model, operands, operator, removed, scales, zeros

U8 = np.uint8
PAIR = model(
    "g (float[4,6] x) => (float[4,6] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, t, z) }", 21, s=0.02, t=0.02, z=U8(128)
)
CHANNELS = model(
    "g (float[4,6] x) => (float[4,6] y) { q = QuantizeLinear <axis = 1> (x, s) y = DequantizeLinear <axis = 1> (q, t) }",
    21,
    s=scales(6),
    t=scales(6),
)
MOVED = model(
    """g (float[4,6] x) => (float[6,4] y) {
        q = QuantizeLinear(x, s, z) m = Transpose <perm = [1, 0]> (q) y = DequantizeLinear(m, s, w)
    }""",
    21,
    s=0.02,
    z=U8(128),
    w=U8(128),
)
CHAIN = model(
    """g (float[4,6] x) => (float[4,6] y) {
        q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) r = Relu(d)
        p = QuantizeLinear(r, u, v) y = DequantizeLinear(p, u, v)
    }""",
    21,
    s=0.02,
    z=U8(128),
    u=0.025,
    v=U8(100),
)
SUM = model(
    """g (float[4,6] x) => (float[4,6] y) {
        q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) a = Add(d, d)
        p = QuantizeLinear(a, u, z) y = DequantizeLinear(p, u, z)
    }""",
    21,
    s=0.02,
    u=0.04,
    z=U8(128),
)
CAST = model(
    "g (float[4,6] x) => (float[4,6] y) { d = Div(x, s) r = Round(d) c = Cast <to = 3> (r) y = DequantizeLinear(c, s) }", 21, s=0.02
)
STORED = model(
    """g (float[2,16] x) => (float[2,32] y) { w = DequantizeLinear <axis = 1> (c, s) y = MatMul(x, w) }""",
    21,
    c=codes(t.INT8, 16, 32),
    s=scales(32),
)
RESHAPED = model(
    """g (float[4,6] x) => (float[24] y) {
        q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) r = Relu(d) m = Reshape(r, n)
        p = QuantizeLinear(m, u, z) y = DequantizeLinear(p, u, z)
    }""",
    21,
    s=0.02,
    u=0.02,
    z=U8(128),
    n=np.array([24]),
)
COMPUTED = model(
    "g (float[4,6] x, float[1] one) => (float[4,6] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }",
    21,
    s=[0.02],
    z=np.array([128], U8),
)
SAME = changed(CHAIN, constant(u=0.02, v=U8(128)))
WEIGHT = model("g (float[2,16] x) => (float[2,32] y) { w = DequantizeLinear(c, s) y = MatMul(x, w) }", 21, c=codes(t.INT8, 16, 32), s=0.02)
FLOAT_STORED = changed(
    STORED,
    constant(c=np.ones((16, 32), np.float32) / 50, z=zeros(t.INT8, 32)),
    inserted(0, "QuantizeLinear", ["c", "s", "z"], ["q"], axis=1),
    operands("w", "q", "s", "z"),
)
DECOMPOSED = (operator("w", "Mul"), operands("w", "f", "s"), inserted(0, "Cast", ["c"], ["f"], to=1))
EMBEDDING = model("g (int64[2] i) => (float[2,32] y) { r = Gather(c, i) y = DequantizeLinear(r, s) }", 21, c=codes(t.UINT8, 16, 32), s=0.02)
SHARED = model(
    """g (float[4,6] x) => (float[4,6] y) {
        q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) e = DequantizeLinear(q, s, z) a = Abs(d) y = Mul(a, e)
    }""",
    21,
    s=0.02,
    z=U8(128),
)


def also_input(name: str, dtype: ElementType, shape: list[int]) -> Edit:
    """An initializer that callers may override."""
    return lambda proto: proto.graph.input.append(helper.make_tensor_value_info(name, dtype.code, shape))


CASES = [
    Case(
        "scales",
        PAIR,
        changed(PAIR, constant(t=0.03)),
        "QDQ301",
        "codes 'q' were made with uint8, scale 0.02, zero point 128, and are read with uint8, scale 0.03, zero point 128",
        "warning",
    ),
    Case(
        "scales of channels",
        CHANNELS,
        changed(CHANNELS, constant(t=scales(6) / 2)),
        "QDQ301",
        "codes 'q' were made with uint8, per axis 1, scales 0.01 to 0.06, and are read with uint8, per axis 1, scales 0.005 to 0.03",
        "warning",
    ),
    Case(
        "zero points behind a Transpose",
        MOVED,
        changed(MOVED, constant(w=U8(127))),
        "QDQ301",
        "codes 'm' were made with uint8, scale 0.02, zero point 128, and are read with uint8, scale 0.02, zero point 127",
        "warning",
    ),
    Case(
        "again",
        SAME,
        changed(SAME, operands("p", "d", "u", "v")),
        "QDQ302",
        "codes 'q' are dequantized and quantized again with the same parameters",
        "info",
    ),
    Case(
        "with other parameters",
        CHAIN,
        changed(CHAIN, operands("p", "d", "u", "v")),
        "QDQ303",
        "codes with uint8, scale 0.02, zero point 128 are quantized again with uint8, scale 0.025, zero point 100",
        "warning",
    ),
    Case(
        "in another type",
        CHAIN,
        changed(CHAIN, constant(v=np.int8(0)), operands("p", "d", "u", "v")),
        "QDQ303",
        "codes with uint8, scale 0.02, zero point 128 are quantized again with int8, scale 0.025, zero point 0",
        "info",
    ),
    Case(
        "Add",
        SUM,
        changed(SUM, operands("a", "q", "q"), removed("p"), operands("y", "a", "u", "z")),
        "QDQ304",
        "Add computes with the codes 'q' as numbers; their scale and zero point are ignored",
        "warning",
    ),
    Case(
        "without Round",
        CAST,
        changed(CAST, operands("c", "d")),
        "QDQ305",
        "codes 'c' were made by Cast, which rounds towards zero and wraps around int8",
        "warning",
    ),
    Case(
        "a scale among the inputs",
        PAIR,
        changed(PAIR, also_input("s", t.FLOAT, [])),
        "QDQ311",
        "1 scale, zero point or weight is a graph input with a default, which callers may replace, first 's'",
        "warning",
    ),
    Case(
        "a weight among the inputs",
        WEIGHT,
        changed(WEIGHT, also_input("c", t.INT8, [16, 32])),
        "QDQ311",
        "1 scale, zero point or weight is a graph input with a default, which callers may replace, first 'c'",
        "warning",
    ),
    Case(
        "a computed scale",
        COMPUTED,
        changed(COMPUTED, inserted(0, "Mul", ["s", "one"], ["t"]), operands("q", "x", "t", "z"), operands("y", "q", "t", "z")),
        "QDQ311",
        "1 scale or zero point is computed at run time, first 't'",
        "info",
    ),
    Case(
        "a float weight",
        STORED,
        FLOAT_STORED,
        "QDQ312",
        "constant 'c' float32[16, 32] is quantized whenever the model runs (2048 bytes, 512 as codes)",
        "info",
    ),
    Case(
        "codes",
        CHAIN,
        changed(CHAIN, constant(k=codes(t.UINT8, 4, 6)), operands("d", "k", "s", "z"), operands("p", "d", "u", "v")),
        "QDQ312",
        "constant codes 'k' are dequantized and quantized again whenever the model runs",
        "info",
    ),
    Case(
        "Cast and Mul",
        WEIGHT,
        changed(WEIGHT, *DECOMPOSED),
        "QDQ313",
        "constant 'c' int8[16, 32] is dequantized by Cast and Mul: runtimes fold it to float, 4 times as large",
        "warning",
    ),
    Case(
        "an embedding",
        EMBEDDING,
        changed(EMBEDDING, inserted(1, "Cast", ["r"], ["f"], to=1), operator("y", "Mul"), operands("y", "f", "s")),
        "QDQ313",
        "constant 'c' uint8[16, 32] is dequantized by Cast and Mul: runtimes fold it to float, 4 times as large",
        "warning",
    ),
    Case(
        "with the same parameters",
        RESHAPED,
        changed(RESHAPED, operands("m", "d", "n")),
        "QDQ315",
        "1 operator that only moves values stands between dequantize and quantize of the same parameters",
        "info",
    ),
    Case(
        "with others",
        changed(RESHAPED, constant(u=0.03)),
        changed(RESHAPED, constant(u=0.03), operands("m", "d", "n")),
        "QDQ315",
        "Reshape moves values between uint8, scale 0.02, zero point 128 and uint8, scale 0.03, zero point 128",
        "warning",
    ),
    Case(
        "two readers",
        SHARED,
        changed(SHARED, operands("y", "a", "d")),
        "QDQ316",
        "1 dequantize node has several readers (the first 2)",
        "info",
    ),
    Case("a dequantize", SHARED, changed(SHARED, operands("y", "a", "a")), "QDQ317", "nobody reads 'e'", "info"),
]
