"""Layers that look quantized and are computed in float, and what keeps them so."""

from __future__ import annotations

from typing import Any

import numpy as np

from qdqtool import dtypes as t
from tests.rules.case import Case, attribute, changed, constant, inserted, model, operands, operator, removed, scales, zeros

U8 = np.uint8
RANDOM = np.random.default_rng(1)
CONV_TEXT = """g (float[1,4,8,8] x) => (float[1,8,6,6] y) {
    xq = QuantizeLinear(x, xs, xz) xd = DequantizeLinear(xq, xs, xz)
    wd = DequantizeLinear <axis = 0> (w, ws) bd = DequantizeLinear <axis = 0> (b, bs)
    c = Conv(xd, wd, bd) r = Relu(c)
    rq = QuantizeLinear(r, ys, yz) y = DequantizeLinear(rq, ys, yz)
}"""


def weight(*shape: int) -> np.ndarray[Any, Any]:
    return RANDOM.integers(-127, 128, shape).astype(np.int8)


WS = scales(8) / 8
PARTS: dict[str, Any] = {"xs": 0.01, "xz": U8(128), "ys": 0.5, "yz": U8(0)}
BIAS: dict[str, Any] = {"b": (1000 * np.arange(8)).astype(np.int32), "bs": np.float32(0.01) * WS}
CONV = model(CONV_TEXT, 21, **PARTS, w=weight(8, 4, 3, 3), ws=WS, **BIAS)
CLIP = changed(CONV, operator("r", "Clip"), operands("r", "c", "low", "high"), constant(low=0.0, high=200.0))
MATMUL = model(
    """g (float[2,16] x) => (float[2,8] y) {
        xq = QuantizeLinear(x, xs, xz) xd = DequantizeLinear(xq, xs, xz)
        wd = DequantizeLinear <axis = 1> (w, ws) c = MatMul(xd, wd)
        cq = QuantizeLinear(c, ys, yz) y = DequantizeLinear(cq, ys, yz)
    }""",
    21,
    **PARTS,
    w=weight(16, 8),
    ws=WS,
)
GEMM = model(
    """g (float[2,16] x) => (float[2,8] y) {
        xq = QuantizeLinear(x, xs, xz) xd = DequantizeLinear(xq, xs, xz)
        wd = DequantizeLinear <axis = 0> (w, ws, wz) bd = DequantizeLinear <axis = 0> (b, bs)
        c = Gemm <transB = 1> (xd, wd, bd)
        cq = QuantizeLinear(c, ys, yz) y = DequantizeLinear(cq, ys, yz)
    }""",
    21,
    **PARTS,
    w=weight(8, 16),
    ws=WS,
    wz=zeros(t.INT8, 8),
    **BIAS,
)
UNSIGNED = changed(GEMM, constant(xz=U8(0)))
TRANSPOSED = model(
    """g (float[1,4,8,8] x) => (float[1,8,10,10] y) {
        xq = QuantizeLinear(x, xs, xz) xd = DequantizeLinear(xq, xs, xz)
        wd = DequantizeLinear <axis = 1> (w, ws) c = ConvTranspose(xd, wd)
        cq = QuantizeLinear(c, ys, yz) y = DequantizeLinear(cq, ys, yz)
    }""",
    21,
    **PARTS,
    w=weight(4, 8, 3, 3),
    ws=WS,
)
AFTER = model(
    """g (float[1,4,8,8] x) => (float[1,8,6,6] y) {
        xq = QuantizeLinear(x, xs, xz) xd = DequantizeLinear(xq, xs, xz)
        wd = DequantizeLinear <axis = 0> (w, ws) c = Conv(xd, wd)
        cq = QuantizeLinear(c, ys, yz) cd = DequantizeLinear(cq, ys, yz)
        r = Relu(cd) rq = QuantizeLinear(r, ys, yz) y = DequantizeLinear(rq, ys, yz)
    }""",
    21,
    **PARTS,
    w=weight(8, 4, 3, 3),
    ws=WS,
)
ADD = model(
    """g (float[2,16] x) => (float[2,16] y) {
        xq = QuantizeLinear(x, xs, xz) xd = DequantizeLinear(xq, xs, xz) kd = DequantizeLinear(k, xs, xz)
        a = Add(xd, kd) aq = QuantizeLinear(a, ys, yz) y = DequantizeLinear(aq, ys, yz)
    }""",
    21,
    **PARTS,
    k=RANDOM.integers(0, 256, 16).astype(np.uint8),
)
RESIDUAL = model(
    """g (float[1,4,8,8] x) => (float[1,4,8,8] y) {
        xq = QuantizeLinear(x, xs, xz) xd = DequantizeLinear(xq, xs, xz)
        wd = DequantizeLinear <axis = 0> (w, ws) c = Conv <pads = [1, 1, 1, 1]> (xd, wd)
        cq = QuantizeLinear(c, ys, yz) cd = DequantizeLinear(cq, ys, yz) m = Add(cd, cd)
        mq = QuantizeLinear(m, ys, yz) y = DequantizeLinear(mq, ys, yz)
    }""",
    21,
    **PARTS,
    w=weight(4, 4, 3, 3),
    ws=scales(4),
)
INT8 = {"xz": np.int8(0), "yz": np.int8(-3)}
PLAIN = changed(CONV, operands("rq", "c", "ys", "yz"), removed("r"))

CASES = [
    Case(
        "Transpose before MatMul",
        MATMUL,
        changed(
            MATMUL, constant(w=weight(8, 16)), attribute("wd", axis=0), inserted(3, "Transpose", ["wd"], ["wt"]), operands("c", "xd", "wt")
        ),
        "QDQ306",
        "Transpose stands between the dequantize of weight 'w' and MatMul",
        "warning",
    ),
    Case(
        "Transpose and Reshape before Conv",
        CONV,
        changed(
            CONV,
            constant(w=weight(36, 8), n=np.array([8, 4, 3, 3])),
            attribute("wd", axis=1),
            inserted(3, "Transpose", ["wd"], ["wm"]),
            inserted(4, "Reshape", ["wm", "n"], ["wt"]),
            operands("c", "xd", "wt", "bd"),
        ),
        "QDQ306",
        "Transpose and Reshape stand between the dequantize of weight 'w' and Conv",
        "warning",
    ),
    Case(
        "Reshape before Conv",
        CONV,
        changed(
            CONV,
            constant(w=weight(8, 36), n=np.array([8, 4, 3, 3])),
            inserted(3, "Reshape", ["wd", "n"], ["wt"]),
            operands("c", "xd", "wt", "bd"),
        ),
        "QDQ306",
        "Reshape stands between the dequantize of weight 'w' and Conv",
        "warning",
    ),
    Case(
        "Transpose before Conv",
        CONV,
        changed(
            CONV,
            constant(w=weight(4, 3, 3, 8)),
            attribute("wd", axis=3),
            inserted(3, "Transpose", ["wd"], ["wt"], perm=[3, 0, 1, 2]),
            operands("c", "xd", "wt", "bd"),
        ),
        "QDQ306",
        "Transpose stands between the dequantize of weight 'w' and Conv",
        "info",
    ),
    Case("Relu", AFTER, changed(AFTER, constant(yz=U8(128))), "QDQ307", "Relu follows the quantize of the output of Conv", "warning"),
    Case(
        "LeakyRelu between",
        CONV,
        changed(CONV, operator("r", "LeakyRelu")),
        "QDQ308",
        "computed in float: input and weight are quantized, but the output goes to LeakyRelu",
        "warning",
    ),
    Case(
        "Relu and a zero point",
        CONV,
        changed(CONV, constant(yz=U8(110))),
        "QDQ308",
        "computed in float: input and weight are quantized, but the output goes through Relu into codes that reach further (-55 to 72.5)",
        "warning",
    ),
    Case(
        "Clip and a wide range",
        CLIP,
        changed(CLIP, constant(high=6.0)),
        "QDQ308",
        "computed in float: input and weight are quantized, but the output goes through Clip into codes that reach further (0 to 127.5)",
        "warning",
    ),
    Case(
        "in float",
        PLAIN,
        changed(PLAIN, removed("rq"), operator("y", "Abs"), operands("y", "c")),
        "QDQ308",
        "computed in float: input and weight are quantized, but the output goes to Abs",
        "warning",
    ),
    Case(
        "16 bits",
        PLAIN,
        changed(PLAIN, constant(yz=np.uint16(0))),
        "QDQ308",
        "computed in float: input and weight are quantized, but the output goes into a quantize to uint16",
        "warning",
    ),
    Case(
        "a constant",
        ADD,
        changed(ADD, constant(k=RANDOM.uniform(-1, 1, 16).astype(np.float32)), operands("a", "xd", "k"), removed("kd")),
        "QDQ309",
        "1 of 2 inputs of Add is not quantized: constant 'k'",
        "warning",
    ),
    Case(
        "the input",
        GEMM,
        changed(GEMM, operands("c", "x", "wd", "bd"), removed("xd"), removed("xq")),
        "QDQ309",
        "1 of 2 inputs of Gemm is not quantized: 'x'",
        "warning",
    ),
    Case(
        "ConvTranspose",
        TRANSPOSED,
        changed(TRANSPOSED, constant(b=np.ones(8, np.float32)), operands("c", "xd", "wd", "b")),
        "QDQ310",
        "1 layer with quantized input and weight has a float bias, first 'b'",
        "info",
    ),
    Case(
        "MatMul",
        MATMUL,
        changed(MATMUL, attribute("wd", axis=0), constant(ws=scales(16))),
        "QDQ314",
        "weight 'w' [16, 8] of MatMul has its scales along axis 0, which is summed over",
        "warning",
    ),
    Case(
        "Gemm with transB",
        GEMM,
        changed(GEMM, attribute("wd", axis=1), constant(ws=scales(16), wz=zeros(t.INT8, 16))),
        "QDQ314",
        "weight 'w' [8, 16] of Gemm has its scales along axis 1, which is summed over",
        "warning",
    ),
    Case(
        "ConvTranspose",
        TRANSPOSED,
        changed(TRANSPOSED, attribute("wd", axis=0), constant(ws=scales(4))),
        "QDQ314",
        "weight 'w' [4, 8, 3, 3] of ConvTranspose has its scales along axis 0, which is summed over",
        "warning",
    ),
    Case(
        "Conv",
        CONV,
        changed(CONV, attribute("wd", axis=1), constant(ws=scales(4))),
        "QDQ314",
        "weight 'w' [8, 4, 3, 3] of Conv has its scales along axis 1, which is summed over",
        "warning",
    ),
    Case(
        "channels of the input",
        CONV,
        changed(CONV, constant(xs=scales(4), xz=np.full(4, 128, np.uint8))),
        "QDQ318",
        "input 'xq' of a layer is quantized per axis 1, with 4 scales",
        "warning",
    ),
    Case(
        "a residual connection",
        RESIDUAL,
        changed(RESIDUAL, constant(**INT8)),
        "QDQ319",
        "computed in float on x86-64: the int8 output has 2 readers, the input one",
        "warning",
    ),
    Case(
        "weight",
        GEMM,
        changed(GEMM, operands("wd", "w", "ws")),
        "QDQ320",
        "the dequantize of 'w' has no zero point, which a Gemm in integers needs",
        "warning",
    ),
    Case(
        "input",
        changed(GEMM, constant(xz=U8(0))),
        changed(GEMM, constant(xz=U8(0)), operands("xd", "xq", "xs")),
        "QDQ320",
        "the dequantize of 'xq' has no zero point, which a Gemm in integers needs",
        "warning",
    ),
]
