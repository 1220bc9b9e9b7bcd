"""Codes of weights and biases that say that something went wrong."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from onnx import ModelProto

from qdqtool import dtypes as t
from qdqtool.model import tensors
from tests.rules.case import Case, changed, constant, model, scales, tensor, zeros

RANDOM = np.random.default_rng(0)


def normal(dtype: Any, *shape: int) -> np.ndarray[Any, Any]:
    """Codes spread as those of trained weights, the largest of each row at the end of the type."""
    row = RANDOM.normal(size=shape)
    high = t.of_numpy(dtype).high
    return np.rint(row / np.abs(row).max(axis=tuple(range(1, len(shape))), keepdims=True) * high).astype(np.int32).astype(dtype)


CONV_TEXT = """g (float[1,4,8,8] x) => (float[1,8,6,6] y) {
    xq = QuantizeLinear(x, xs, xz) xd = DequantizeLinear(xq, xs, xz)
    wd = DequantizeLinear <axis = 0> (w, ws, wz) bd = DequantizeLinear <axis = 0> (b, bs)
    c = Conv(xd, wd, bd)
    cq = QuantizeLinear(c, ys, yz) y = DequantizeLinear(cq, ys, yz)
}"""
WS = scales(8) / 8
W = normal(np.int8, 8, 4, 3, 3)
BS = np.float32(0.01) * WS
B = (1000 * np.arange(1, 9)).astype(np.int32)
PARTS: dict[str, Any] = {"xs": 0.01, "xz": np.uint8(128), "ys": 0.5, "yz": np.uint8(128)}
CONV = model(CONV_TEXT, 21, **PARTS, w=W, ws=WS, wz=zeros(t.INT8, 8), b=B, bs=BS)
TENSOR = model(
    CONV_TEXT.replace(" <axis = 0> (w", "(w").replace(" <axis = 0> (b", "(b"),
    21,
    **PARTS,
    w=W,
    ws=0.002,
    wz=np.int8(0),
    b=B,
    bs=np.float32(0.01) * np.float32(0.002),
)
GEMM_TEXT = """g (float[2,16] x) => (float[2,8] y) {
    xq = QuantizeLinear(x, xs, xz) xd = DequantizeLinear(xq, xs, xz)
    wd = DequantizeLinear <axis = 0> (w, ws, wz) bd = DequantizeLinear <axis = 0> (b, bs)
    c = Gemm <transB = 1> (xd, wd, bd)
    cq = QuantizeLinear(c, ys, yz) y = DequantizeLinear(cq, ys, yz)
}"""
GEMM = model(GEMM_TEXT, 21, **PARTS, w=normal(np.int8, 8, 16), ws=WS, wz=zeros(t.INT8, 8), b=B, bs=BS)
MATMUL = model(
    "g (float[2,32] x) => (float[2,8] y) { wd = DequantizeLinear <axis = 1> (w, ws) y = MatMul(x, wd) }",
    21,
    w=np.ascontiguousarray(normal(np.int8, 8, 32).T),
    ws=WS,
)
ONE_SCALE = changed(MATMUL, constant(ws=0.01))
BLOCKS = model(
    "g (float[2,32] x) => (float[2,8] y) { wd = DequantizeLinear <axis = 0, block_size = 16> (w, ws, wz) y = MatMul(x, wd) }",
    21,
    w=np.ascontiguousarray(normal(ml_dtypes.int4, 8, 32).T),
    ws=scales(2, 8),
    wz=zeros(t.INT4, 2, 8),
)
FLOAT8 = model(
    "g (float[2,16] x) => (float[2,8] y) { wd = DequantizeLinear(w, ws) y = MatMul(x, wd) }",
    21,
    w=normal(np.int8, 16, 8).astype(np.float32).astype(ml_dtypes.float8_e4m3fn),
    ws=0.01,
)
E5M2 = changed(FLOAT8, constant(w=normal(np.int8, 16, 8).astype(np.float32).astype(ml_dtypes.float8_e5m2)))
FLOAT_WEIGHT = model(
    """g (float[2,16] x) => (float[2,8] y) {
        wq = QuantizeLinear <axis = 1> (w, ws, wz) wd = DequantizeLinear <axis = 1> (wq, ws, wz) y = MatMul(x, wd)
    }""",
    21,
    w=RANDOM.uniform(-1, 1, (16, 8)).astype(np.float32),
    ws=np.full(8, 1 / 127, np.float32),
    wz=zeros(t.INT8, 8),
)


def set_to(good: ModelProto, name: str, index: Any, value: Any) -> ModelProto:
    """Part of a constant replaced."""
    array = tensors.array(tensor(good, name), None).copy()
    array[index] = np.asarray(value).astype(array.dtype)
    return changed(good, constant(**{name: array}))


CASES = [
    Case(
        "int8",
        CONV,
        changed(CONV, constant(w=np.clip(W.astype(np.int32) * 4, -128, 127).astype(np.int8))),
        "QDQ208",
        "58 % of the codes of weight 'w' int8[8, 4, 3, 3] are at the end of the type (-128 and 127)",
        "warning",
    ),
    Case(
        "int4 in blocks",
        BLOCKS,
        set_to(BLOCKS, "w", slice(0, 20), 7),
        "QDQ208",
        "64 % of the codes of weight 'w' int4[32, 8] are at the end of the type (-7 and 7)",
        "warning",
    ),
    Case(
        "bias",
        CONV,
        set_to(CONV, "b", 2, 2**31 - 1),
        "QDQ208",
        "1 of 8 codes of bias 'b' int32[8] is at the end of the type (2147483647)",
        "warning",
    ),
    Case(
        "bias of Gemm",
        GEMM,
        set_to(GEMM, "b", slice(3, 6), -(2**31)),
        "QDQ208",
        "3 of 8 codes of bias 'b' int32[8] are at the end of the type (-2147483648)",
        "warning",
    ),
    Case(
        "a channel of zeros",
        CONV,
        set_to(CONV, "w", 5, 0),
        "QDQ209",
        "1 of 8 channels (axis 0) of weight 'w' int8[8, 4, 3, 3] holds only zeros, first 5",
        "info",
    ),
    Case(
        "under one scale",
        ONE_SCALE,
        set_to(ONE_SCALE, "w", (slice(None), slice(2, 5)), 0),
        "QDQ209",
        "3 of 8 channels (axis 1) of weight 'w' int8[32, 8] hold only zeros, first 2",
        "info",
    ),
    Case(
        "the whole weight",
        MATMUL,
        set_to(MATMUL, "w", ..., 0),
        "QDQ209",
        "all 256 codes of weight 'w' int8[32, 8] are 0, the zero point: all values are 0",
        "warning",
    ),
    Case(
        "one code",
        GEMM,
        set_to(GEMM, "w", 6, 31),
        "QDQ209",
        "1 of 8 channels (axis 0) of weight 'w' int8[8, 16] holds one code only, first 6",
        "info",
    ),
    Case(
        "next to nothing",
        CONV,
        set_to(CONV, "ws", 3, 1e-12),
        "QDQ209",
        "1 of 8 channels (axis 0) of weight 'w' int8[8, 4, 3, 3] reaches 1.3e-10 where others reach 1.1, first 3",
        "info",
    ),
    Case(
        "channels",
        MATMUL,
        changed(MATMUL, constant(ws=np.full(8, 0.01, np.float32))),
        "QDQ210",
        "all 8 scales in 'ws' are 0.01, one for each index along axis 1",
        "info",
    ),
    Case(
        "blocks",
        BLOCKS,
        changed(BLOCKS, constant(ws=np.full((2, 8), 0.01, np.float32))),
        "QDQ210",
        "all 16 scales in 'ws' are 0.01, one for each block of 16 along axis 0",
        "info",
    ),
    Case(
        "blocks along the axis",
        BLOCKS,
        changed(BLOCKS, constant(ws=np.tile(scales(8), (2, 1)))),
        "QDQ210",
        "all 16 scales in 'ws' are equal along axis 0, one for each block of 16 along axis 0",
        "info",
    ),
    Case(
        "twice",
        CONV,
        changed(CONV, constant(bs=BS * 2)),
        "QDQ211",
        "bias scale 'bs' is not x_scale * w_scale in 8 of 8 channels ([4]: 0.000125, not 6.25e-05): codes are off by up to 8000 (0.6125)",
        "warning",
    ),
    Case(
        "one channel of Gemm",
        GEMM,
        set_to(GEMM, "bs", 3, 0.0001),
        "QDQ211",
        "bias scale 'bs' is not x_scale * w_scale in 1 of 8 channels ([3]: 0.0001, not 5e-05): codes are off by up to 4000 (0.2)",
        "warning",
    ),
    Case(
        "2 %",
        TENSOR,
        changed(TENSOR, constant(bs=np.float32(0.0000204))),
        "QDQ211",
        "bias scale 'bs' is not x_scale * w_scale in 8 of 8 channels ([0]: 2.04e-05, not 2e-05): codes are off by up to 160 (0.0032)",
        "warning",
    ),
    Case(
        "int8",
        CONV,
        changed(CONV, constant(b=np.arange(8).astype(np.int8))),
        "QDQ212",
        "bias 'b' of Conv 'c' is int8, where integer kernels add int32",
        "warning",
    ),
    Case(
        "uint8",
        TENSOR,
        changed(TENSOR, constant(b=np.arange(8).astype(np.uint8))),
        "QDQ212",
        "bias 'b' of Conv 'c' is uint8, where integer kernels add int32",
        "warning",
    ),
    Case(
        "int16 of Gemm",
        GEMM,
        changed(GEMM, constant(b=B.astype(np.int16))),
        "QDQ212",
        "bias 'b' of Gemm 'c' is int16, where integer kernels add int32",
        "warning",
    ),
    Case(
        "4 of 8 bits",
        MATMUL,
        changed(MATMUL, constant(w=np.ascontiguousarray(normal(ml_dtypes.int4, 8, 32).T).astype(np.int8))),
        "QDQ213",
        "codes of weight 'w' int8[32, 8] lie between -7 and 7: 4 of 8 bits are used",
        "info",
    ),
    Case(
        "2 of 4 bits",
        BLOCKS,
        set_to(BLOCKS, "w", ..., np.arange(8) % 3 - 1),
        "QDQ213",
        "codes of weight 'w' int4[32, 8] lie between -1 and 1: 2 of 4 bits are used",
        "info",
    ),
    Case(
        "8 of 16 bits",
        changed(CONV, constant(w=W.astype(np.int16) * 257, wz=zeros(t.INT16, 8))),
        changed(CONV, constant(w=W.astype(np.int16), wz=zeros(t.INT16, 8))),
        "QDQ213",
        "codes of weight 'w' int16[8, 4, 3, 3] lie between -127 and 127: 8 of 16 bits are used",
        "info",
    ),
    Case(
        "E4M3FN",
        FLOAT8,
        set_to(FLOAT8, "w", (3, 4), np.nan),
        "QDQ214",
        "1 of 128 codes of weight 'w' float8e4m3fn[16, 8] are NaN",
        "warning",
    ),
    Case(
        "E5M2",
        E5M2,
        set_to(E5M2, "w", (0, slice(0, 2)), np.nan),
        "QDQ214",
        "2 of 128 codes of weight 'w' float8e5m2[16, 8] are NaN",
        "warning",
    ),
    Case(
        "infinite",
        E5M2,
        set_to(E5M2, "w", (0, slice(0, 2)), np.inf),
        "QDQ214",
        "codes of weight 'w' float8e5m2[16, 8] hold an infinity",
        "warning",
    ),
    Case(
        "MatMul",
        ONE_SCALE,
        set_to(ONE_SCALE, "w", (slice(None), slice(2, 4)), np.arange(64).reshape(32, 2) % 3 - 1),
        "QDQ215",
        "2 of 8 channels (axis 1) of weight 'w' int8[32, 8] keep few codes under the common scale: channel 2 up to 1 of 127",
        "info",
    ),
    Case(
        "Conv",
        TENSOR,
        set_to(TENSOR, "w", 6, np.arange(36).reshape(4, 3, 3) % 5 - 2),
        "QDQ215",
        "1 of 8 channels (axis 0) of weight 'w' int8[8, 4, 3, 3] keeps few codes under the common scale: channel 6 up to 2 of 127",
        "info",
    ),
    Case(
        "Gemm",
        changed(GEMM, constant(ws=np.float32(0.01), wz=np.int8(0), bs=np.float32(0.0001))),
        set_to(changed(GEMM, constant(ws=np.float32(0.01), wz=np.int8(0), bs=np.float32(0.0001))), "w", 0, np.arange(16) % 2),
        "QDQ215",
        "1 of 8 channels (axis 0) of weight 'w' int8[8, 16] keeps few codes under the common scale: channel 0 up to 1 of 127",
        "info",
    ),
    Case(
        "one scale",
        changed(FLOAT_WEIGHT, constant(ws=np.float32(1 / 127), wz=np.int8(0))),
        changed(FLOAT_WEIGHT, constant(ws=np.float32(0.003), wz=np.int8(0))),
        "QDQ216",
        "constant 'w' is cut off: it reaches -0.9942 to 0.9928, its codes only -0.384 to 0.381",
        "warning",
    ),
    Case(
        "one channel",
        FLOAT_WEIGHT,
        set_to(FLOAT_WEIGHT, "ws", 2, 0.002),
        "QDQ216",
        "constant 'w' is cut off in 1 of 8 channels: it reaches -0.9456 to 0.9239, its codes only -0.256 to 0.254",
        "warning",
    ),
    Case(
        "one weight",
        FLOAT_WEIGHT,
        set_to(FLOAT_WEIGHT, "w", (7, 1), -3.5),
        "QDQ216",
        "constant 'w' is cut off in 1 of 8 channels: it reaches -3.5 to 0.9521, its codes only -1.008 to 1",
        "warning",
    ),
    Case(
        "one zero point",
        TENSOR,
        changed(TENSOR, constant(wz=np.int8(5))),
        "QDQ218",
        "zero point 'wz' of weight 'w' int8[8, 4, 3, 3] is 5",
        "info",
    ),
    Case(
        "zero points of channels",
        CONV,
        changed(CONV, constant(wz=np.arange(8).astype(np.int8))),
        "QDQ218",
        "zero point 'wz' of weight 'w' int8[8, 4, 3, 3] has 7 of 8 values that are not 0, first at [1]",
        "info",
    ),
    Case(
        "int4",
        changed(MATMUL, constant(w=np.ascontiguousarray(normal(ml_dtypes.int4, 8, 32).T))),
        changed(
            model(
                "g (float[2,32] x) => (float[2,8] y) { wd = DequantizeLinear <axis = 1> (w, ws, wz) y = MatMul(x, wd) }",
                21,
                w=np.ascontiguousarray(normal(ml_dtypes.int4, 8, 32).T),
                ws=WS,
                wz=np.full(8, -2).astype(ml_dtypes.int4),
            )
        ),
        "QDQ218",
        "zero point 'wz' of weight 'w' int4[32, 8] has 8 of 8 values that are not 0, first at [0]",
        "info",
    ),
]
