"""What ONNX Runtime 1.32 refuses, or computes otherwise, beside a twin that it runs; `PROOFS` tells how that shows."""

from __future__ import annotations

from typing import Any, Literal

import ml_dtypes
import numpy as np
from onnx import ModelProto

from qdqtool import dtypes
from tests.rules.case import Case, attribute, changed, codes, constant, inserted, ir, model, operands, operator, opset, port, scales, zeros

Proof = Literal["load", "run", "optimizer", "changes", "g_idx", "saturate", "unfused"]
"""It fails when it loads, when it runs, or only with optimizations; these change its result; or as ``test_ort`` says."""

MICROSOFT = {"com.microsoft": 1}
ZERO = np.int8(0)

QUANTIZE = model("g (float[2, 4] x) => (int8[2, 4] q) { q = QuantizeLinear(x, s, z) }", 27, s=0.1, z=ZERO)
PLAIN = model("g (float[2, 4] x) => (float[2, 4] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }", 23, s=0.1, z=ZERO)
WEIGHT = model("g () => (float[4, 4] y) { y = DequantizeLinear(w, s) }", 23, w=codes(dtypes.INT4, 4, 4), s=0.1)
MOVED = model(
    "g () => (float[4, 2] y) { t = Transpose <perm = [1, 0]> (w) y = DequantizeLinear(t, s) }", 21, w=codes(dtypes.INT4, 2, 4), s=0.1
)
TO_E4M3 = model("g (float[4] x) => (float8e4m3fn[4] q) { q = QuantizeLinear(x, s, z) }", 19, s=1.0, z=zeros(dtypes.FLOAT8E4M3FN))
TO_E5M2 = model("g (float[4] x) => (float8e5m2[4] q) { q = QuantizeLinear(x, s, z) }", 19, s=1.0, z=zeros(dtypes.FLOAT8E5M2))
ROI = model("g (float[1, 1, 4, 4] x) => (float[1, 1, 1, 1] y) { y = RoiAlign(x, r, b) }", 21, r=[[0, 0, 2, 2]], b=np.array([0], np.int64))
GEMM = model(
    "g (int8[2, 4] a) => (float[2, 3] y) { y = com.microsoft.QGemm(a, sa, za, b, sb, zb) }",
    17,
    imports=MICROSOFT,
    sa=0.1,
    za=ZERO,
    b=codes(dtypes.INT8, 4, 3),
    sb=0.1,
    zb=ZERO,
)
PRODUCT = model(
    "g (int8[2, 4] a) => (float[2, 3] y) { y = com.microsoft.MatMulIntegerToFloat(a, b, sa, sb, za, zb) }",
    17,
    imports=MICROSOFT,
    sa=0.1,
    za=ZERO,
    b=codes(dtypes.INT8, 4, 3),
    sb=0.1,
    zb=ZERO,
)
ADD = model(
    "g (uint8[2, 4] a, uint8[2, 4] b) => (uint8[2, 4] y) { y = com.microsoft.QLinearAdd(a, s, z, b, s, z, s, z) }",
    17,
    imports=MICROSOFT,
    s=0.1,
    z=np.uint8(0),
)
CONV = model(
    "g (int8[1, 1, 4, 4] x) => (int8[1, 2, 3, 3] y) { y = QLinearConv(x, s, z, w, s, zw, s, z) }",
    17,
    s=0.1,
    z=ZERO,
    w=codes(dtypes.INT8, 2, 1, 2, 2),
    zw=ZERO,
)


def packed(bits: int, block: int = 32) -> dict[str, Any]:
    """Operands of a MatMulNBits from 64 to 8."""
    rng, blocks = np.random.default_rng(0), 64 // block
    return {
        "w": rng.integers(0, 256, (8, blocks, block * bits // 8)).astype(np.uint8),
        "s": (rng.random((8, blocks)) / 10).astype(np.float32),
        "zp": rng.integers(0, 256, (8, (blocks * bits + 7) // 8)).astype(np.uint8),
    }


G_IDX = np.repeat(np.arange(2), 32).astype(np.int32)
"""The order that MatMulNBits has without it."""


def n_bits(bits: int) -> ModelProto:
    attributes = f"<K = 64, N = 8, bits = {bits}, block_size = 32>"
    text = f"g (float[2, 64] x) => (float[2, 8] y) {{ y = com.microsoft.MatMulNBits {attributes} (x, w, s, zp) }}"
    return model(text, 21, imports=MICROSOFT, **packed(bits))


FOUR, TWO, EIGHT = n_bits(4), n_bits(2), n_bits(8)
GATHER = model(
    "g (int64[2] i) => (float[2, 32] y) {"
    " y = com.microsoft.GatherBlockQuantized <gather_axis = 0, quantize_axis = 1, block_size = 16, bits = 8> (d, i, s) }",
    21,
    imports=MICROSOFT,
    d=codes(dtypes.UINT8, 4, 32),
    s=scales(4, 2),
)
BLOCKS = model(
    "g (float[2, 64] x) => (float[2, 8] y) { v = DequantizeLinear <axis = 0, block_size = 8> (w, s) y = MatMul(x, v) }",
    21,
    w=codes(dtypes.INT4, 64, 8),
    s=scales(8, 8),
)
ONCE = model(
    "g (float[2, 64] x) => (float[2, 64] y) { a = QuantizeLinear(x, s, z) y = DequantizeLinear(a, s, z) }", 13, s=0.0123, z=np.uint8(0)
)
RESHAPED = model(
    "g (float[2, 4] x) => (float[8] y) { q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) r = Reshape(d, n) y = Cos(r) }",
    20,
    ir=10,
    s=0.1,
    z=ZERO,
    n=np.array([8], np.int64),
)
BARE = model(
    "g (float[1, 4, 16, 16] x) => (float[1, 8, 14, 14] y) { q = QuantizeLinear(x, sx, z) d = DequantizeLinear(q, sx, z)"
    " v = DequantizeLinear <axis = 0> (w, sw) p = Conv(d, v) r = QuantizeLinear(p, so, z) y = DequantizeLinear(r, so, z) }",
    13,
    sx=0.01,
    z=np.uint8(0),
    w=np.linspace(-10, 12, 288).astype(np.int8).reshape(8, 4, 3, 3),
    sw=scales(8),
    so=0.02,
)
TWO_BITS = model(
    "g (float[2, 64] x) => (float[2, 8] y) { q = QuantizeLinear(x, sx, zx) d = DequantizeLinear(q, sx, zx)"
    " v = DequantizeLinear(w, s, z) y = MatMul(d, v) }",
    25,
    sx=0.01,
    zx=np.uint8(0),
    w=codes(dtypes.INT2, 64, 8),
    s=0.1,
    z=zeros(dtypes.INT2),
)
SIGMOID = model(
    "g (float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y) { q = QuantizeLinear(x, sx, z) d = DequantizeLinear(q, sx, z)"
    " p = Sigmoid(d) r = QuantizeLinear(p, so, z) y = DequantizeLinear(r, so, z) }",
    21,
    sx=0.01,
    z=np.uint8(0),
    so=1 / 256,
)

CASES = (
    Case("ir-15", QUANTIZE, changed(QUANTIZE, ir(15)), "QDQ402", "ort@1.32: ir_version 15; it loads up to 14"),
    Case(
        "reshape-of-int4",
        MOVED,
        changed(
            MOVED, operator("t", "Reshape"), operands("t", "w", "n"), constant(n=np.array([4, 2], np.int64)), attribute("t", perm=None)
        ),
        "QDQ403",
        "ort@1.32: no kernel of Reshape-21 for int4",
    ),
    Case("roi-align-22", ROI, changed(ROI, opset(22)), "QDQ403", "ort@1.32: no kernel of RoiAlign-22"),
    Case(
        "domain-of-others",
        PLAIN,
        changed(PLAIN, operator("y", "Quant", "acme"), opset(1, "acme")),
        "QDQ403",
        "ort@1.32: no operator Quant of acme",
    ),
    Case(
        "pair-without-kernel",
        CONV,
        changed(CONV, constant(w=codes(dtypes.UINT8, 2, 1, 2, 2), zw=np.uint8(0))),
        "QDQ403",
        "ort@1.32: no kernel of QLinearConv-10 for int8:uint8",
    ),
    Case(
        "three-bits",
        FOUR,
        changed(FOUR, attribute("y", bits=3), constant(w=np.zeros((8, 2, 12), np.uint8), zp=np.zeros((8, 1), np.uint8))),
        "QDQ403",
        "ort@1.32: no com.microsoft MatMulNBits with bits 3",
    ),
    Case("opset-28", QUANTIZE, changed(QUANTIZE, opset(28)), "QDQ404", "ort@1.32: no kernel of ai.onnx QuantizeLinear-28"),
    Case(
        "float4",
        WEIGHT,
        changed(WEIGHT, constant(w=codes(dtypes.FLOAT4E2M1, 4, 4))),
        "QDQ404",
        "ort@1.32: ai.onnx DequantizeLinear-23 with codes of float4e2m1; "
        "it takes uint8, int8, uint16, int16, int32, float8e4m3fn, float8e4m3fnuz, float8e5m2,"
        " float8e5m2fnuz, uint4, int4",
    ),
    Case(
        "bfloat16-scale",
        WEIGHT,
        changed(WEIGHT, constant(s=np.array(0.1, ml_dtypes.bfloat16)), attribute("y", output_dtype=1)),
        "QDQ405",
        "ort@1.32: ai.onnx DequantizeLinear-23 with scale of bfloat16; it takes float32, float16",
    ),
    Case(
        "precision-bfloat16",
        PLAIN,
        changed(PLAIN, attribute("q", precision=16)),
        "QDQ405",
        "ort@1.32: ai.onnx QuantizeLinear-23 that divides in bfloat16; it takes float32, float16",
    ),
    Case(
        "gemm-of-int8-and-uint8",
        GEMM,
        changed(GEMM, constant(b=codes(dtypes.UINT8, 4, 3), zb=np.uint8(0))),
        "QDQ419",
        "ort@1.32: QGemm of int8 and uint8; it has no kernel for int8 activations beside uint8 weights",
    ),
    Case(
        "product-of-int8-and-uint8",
        PRODUCT,
        changed(PRODUCT, constant(b=codes(dtypes.UINT8, 4, 3), zb=np.uint8(0))),
        "QDQ419",
        "ort@1.32: MatMulIntegerToFloat of int8 and uint8; it has no kernel for int8 activations beside uint8 weights",
    ),
    Case(
        "sum-of-two-types",
        ADD,
        changed(ADD, port("b", dtypes.INT8, [2, 4])),
        "QDQ419",
        "ort@1.32: QLinearAdd of uint8 and int8; it takes int8 or uint8 for both",
    ),
    Case(
        "blocks-of-8",
        FOUR,
        changed(FOUR, attribute("y", block_size=8), constant(w=packed(4, 8)["w"], s=packed(4, 8)["s"], zp=packed(4, 8)["zp"])),
        "QDQ426",
        "ort@1.32: block_size 8; it takes block_size as a power of two from 16 on",
    ),
    Case(
        "packed-in-rank-2",
        FOUR,
        changed(FOUR, constant(w=packed(4)["w"].reshape(8, -1))),
        "QDQ426",
        "ort@1.32: 'w' [8, 32]; it takes B with 3 dimensions",
    ),
    Case(
        "float-zero-points-of-8-bits",
        EIGHT,
        changed(EIGHT, constant(zp=np.full((8, 2), 3, np.float32))),
        "QDQ426",
        "ort@1.32: zero points 'zp' of floats with 8 bits; float zero points go with 2 and 4 bits",
    ),
    Case(
        "g-idx-of-4-bits",
        FOUR,
        changed(FOUR, operands("y", "x", "w", "s", "zp", "g"), constant(g=G_IDX)),
        "QDQ426",
        "ort@1.32: 4 bits with g_idx 'g'; with g_idx it takes every packed zero point for 8",
    ),
    Case(
        "g-idx-of-2-bits",
        TWO,
        changed(TWO, operands("y", "x", "w", "s", "zp", "g"), constant(g=G_IDX)),
        "QDQ426",
        "ort@1.32: 2 bits with g_idx 'g'; with g_idx its result is wrong (2 bits) or it fails (8 bits)",
    ),
    Case(
        "g-idx-of-8-bits",
        EIGHT,
        changed(EIGHT, operands("y", "x", "w", "s", "zp", "g"), constant(g=G_IDX)),
        "QDQ426",
        "ort@1.32: 8 bits with g_idx 'g'; with g_idx its result is wrong (2 bits) or it fails (8 bits)",
    ),
    Case(
        "gathered-blocks-of-8",
        GATHER,
        changed(GATHER, attribute("y", block_size=8), constant(s=scales(4, 4))),
        "QDQ426",
        "ort@1.32: block_size 8; it takes block_size as a power of two from 16 on",
    ),
    Case(
        "gathered-along-1",
        GATHER,
        changed(GATHER, attribute("y", gather_axis=1, quantize_axis=0), constant(s=scales(1, 32))),
        "QDQ426",
        "ort@1.32: codes 'd' of uint8 with gather_axis 1 and quantize_axis 0; "
        "it gathers packed bytes along axis 0 only, and quantizes another",
    ),
    Case(
        "e4m3fn-not-saturating",
        TO_E4M3,
        changed(TO_E4M3, attribute("q", saturate=0)),
        "QDQ427",
        "ort@1.32: float32 to float8e4m3fn, per tensor, float32 scale, not saturating; "
        "with saturate=0, values from 480 to 496 give 448 there, not NaN",
        severity="warning",
    ),
    Case(
        "e5m2-not-saturating",
        TO_E5M2,
        changed(TO_E5M2, attribute("q", saturate=0)),
        "QDQ427",
        "ort@1.32: float32 to float8e5m2, per tensor, float32 scale, not saturating; "
        "with saturate=0, values from 61440 to 65536 give NaN there, not infinity",
        severity="warning",
    ),
    Case(
        "weights-only",
        BLOCKS,
        changed(BLOCKS, attribute("v", block_size=16), constant(s=scales(4, 8))),
        "QDQ429",
        "ort@1.32: MatMul of float activations and quantized weights; "
        "from optimization level EXTENDED on it makes MatMulNBits, with activations in int8 (0.3 to 1 % of the output's maximum)",
        severity="warning",
    ),
    Case(
        "two-pairs",
        ONCE,
        changed(
            ONCE,
            inserted(1, "DequantizeLinear", ["a", "s", "z"], ["b"]),
            inserted(2, "QuantizeLinear", ["b", "t", "z"], ["c"]),
            operands("y", "c", "t", "z"),
            constant(t=0.0171),
        ),
        "QDQ430",
        "ort@1.32: codes with uint8, scale 0.0123, zero point 0 are quantized again with uint8, scale 0.0171, zero point 0; "
        "from optimization level BASIC on it makes them one, up to 0.67 of an output step away",
        severity="warning",
    ),
    Case(
        "output-dtype-twice",
        PLAIN,
        changed(PLAIN, attribute("q", output_dtype=3)),
        "QDQ431",
        "ort@1.32: output_dtype beside zero point 'z' of int8 does not load unless optimizations are off",
    ),
    Case(
        "int8-before-reshape",
        RESHAPED,
        changed(RESHAPED, opset(21)),
        "QDQ431",
        "ort@1.32: Reshape behind a DequantizeLinear of int8 does not load unless optimizations are off",
    ),
    Case(
        "float-bias",
        BARE,
        changed(BARE, operands("p", "d", "v", "b"), constant(b=np.linspace(-1, 1, 8).astype(np.float32))),
        "QDQ432",
        "ort@1.32: float bias 'b'; from optimization level BASIC on it quantizes them to int32 (1 step on 0.1 % of the elements)",
        severity="info",
    ),
    Case(
        "two-bits-transposed",
        TWO_BITS,
        changed(
            TWO_BITS, constant(w=codes(dtypes.INT2, 8, 64)), inserted(3, "Transpose", ["v"], ["u"], perm=[1, 0]), operands("y", "d", "u")
        ),
        "QDQ433",
        "ort@1.32: int2 weight 'w' [8, 64]; "
        "behind a Transpose it does not load 2-bit weights with zero points unless optimizations are off",
        also=("QDQ306",),
    ),
    Case(
        "zero-point-left-out",
        ADD,
        changed(ADD, operands("y", "a", "s", "", "b", "s", "z", "s", "z")),
        "QDQ434",
        "ort@1.32: QLinearAdd without input 2; it cannot infer types past it, though the schema calls it optional",
    ),
    Case(
        "sixteen-bits",
        SIGMOID,
        changed(SIGMOID, constant(z=np.uint16(0), so=1 / 65536)),
        "QDQ435",
        "ort@1.32: Sigmoid of uint16; it computes operators between 16-bit activations in float",
        severity="info",
    ),
)

PROOFS: dict[str, Proof] = {
    "ir-15": "load",
    "reshape-of-int4": "load",
    "roi-align-22": "load",
    "domain-of-others": "load",
    "pair-without-kernel": "load",
    "three-bits": "load",
    "opset-28": "load",
    "float4": "load",
    "bfloat16-scale": "load",
    "precision-bfloat16": "load",
    "gemm-of-int8-and-uint8": "load",
    "product-of-int8-and-uint8": "load",
    "sum-of-two-types": "load",
    "blocks-of-8": "load",
    "packed-in-rank-2": "load",
    "float-zero-points-of-8-bits": "load",
    "g-idx-of-4-bits": "g_idx",
    "g-idx-of-2-bits": "g_idx",
    "g-idx-of-8-bits": "run",
    "gathered-blocks-of-8": "load",
    "gathered-along-1": "load",
    "e4m3fn-not-saturating": "saturate",
    "e5m2-not-saturating": "saturate",
    "weights-only": "changes",
    "two-pairs": "changes",
    "output-dtype-twice": "optimizer",
    "int8-before-reshape": "optimizer",
    "float-bias": "changes",
    "two-bits-transposed": "optimizer",
    "zero-point-left-out": "load",
    "sixteen-bits": "unfused",
}
