from __future__ import annotations

from qdqtool import dtypes
from qdqtool.lowerings import in_float32
from qdqtool.quantization import Blocked, PerAxis
from tests.lowerings.given import Given, dequantize, meaning, quantize
from tests.lowerings.verbs import cases, exact, noop, transformed

NOOP = {
    "float32 already": dequantize(dtypes.INT8),
    "divided in float16": quantize(dtypes.INT8, x=dtypes.FLOAT16, scale=dtypes.FLOAT16, compute=dtypes.FLOAT16),
    "unknown scale": meaning(dequantize(dtypes.INT8), scale_type=None),
    "unknown output": meaning(dequantize(dtypes.INT8), expressed=None),
}
TRANSFORMED = {
    "float16": (
        dequantize(dtypes.INT8, expressed=dtypes.FLOAT16, scale=dtypes.FLOAT16, zero=True),
        "Cast:float16(dequantize<int8>float32, per tensor>(x, cast[float32](s), z))",
    ),
    "bfloat16 scale, float32 output": (
        dequantize(dtypes.INT4, (3, 64), Blocked(1, 16), scale=dtypes.BFLOAT16),
        "dequantize<int4>float32, blocks of 16 along axis 1>(x, cast[float32](s))",
    ),
    "e8m0 scale": (
        dequantize(dtypes.INT8, (6, 64), PerAxis(0), scale=dtypes.FLOAT8E8M0),
        "dequantize<int8>float32, per axis 0>(x, cast[float32](s))",
    ),
    "float16 output": (
        dequantize(dtypes.UINT8, expressed=dtypes.FLOAT16, live="x"),
        "Cast:float16(dequantize<uint8>float32, per tensor>(x, s))",
    ),
    "float16 x divided in float32": (
        quantize(dtypes.INT8, x=dtypes.FLOAT16, scale=dtypes.FLOAT16, zero=True),
        "quantize<float32>int8, per tensor>(Cast:float32(x), cast[float32](s), z)",
    ),
    "int32 x": (quantize(dtypes.INT8, x=dtypes.INT32, scales=[3.0], zero=1), "quantize<float32>int8, per tensor>(Cast:float32(x), s, z)"),
}
EXACT = {
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    "bfloat16": dequantize(dtypes.UINT16, expressed=dtypes.BFLOAT16, scale=dtypes.BFLOAT16, zero=True),
    "bfloat16 x": quantize(dtypes.UINT8, x=dtypes.BFLOAT16, scale=dtypes.BFLOAT16, zero=True),
    "run-time float16 scale": dequantize(dtypes.INT8, (3, 96), PerAxis(0), expressed=dtypes.FLOAT16, scale=dtypes.FLOAT16, live="xs"),
    "run-time e8m0 scale": dequantize(dtypes.INT8, (3, 96), PerAxis(0), scale=dtypes.FLOAT8E8M0, live="xs"),
    "every e8m0 scale": dequantize(
        dtypes.INT8, (255, 3), PerAxis(0), scale=dtypes.FLOAT8E8M0, scales=[2.0**e for e in range(-127, 128)], codes=[1, -128, 3]
    ),
    "int32 codes to float16": dequantize(dtypes.INT32, expressed=dtypes.FLOAT16, scale=dtypes.FLOAT16, scales=[2.0**-20]),
    "per axis, run-time scale": quantize(dtypes.INT8, (3, 140), PerAxis(0), x=dtypes.FLOAT16, scale=dtypes.FLOAT16, live="xs"),
    "float8 codes": dequantize(dtypes.FLOAT8E4M3FN, expressed=dtypes.FLOAT16, scale=dtypes.FLOAT16),
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(in_float32, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(in_float32, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(in_float32, case)
