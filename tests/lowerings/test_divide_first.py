from __future__ import annotations

from qdqtool import dtypes
from qdqtool.lowerings import divide_first
from qdqtool.quantization import Blocked, PerAxis
from tests.lowerings.given import Given, dequantize, meaning, quantize, unit, unshaped, vectors
from tests.lowerings.verbs import cases, exact, noop, transformed

NOOP = {
    "a dequantize": dequantize(dtypes.INT8),
    "a division by one": unit(quantize(dtypes.INT8, scales=[1.0])),
    "zero points that differ": quantize(dtypes.INT8, (6, 140), PerAxis(0), zero=True),
    "zero points of the run": quantize(dtypes.INT8, (6, 140), PerAxis(0), zero=3, live="xz"),
    "unknown precision": meaning(quantize(dtypes.INT8), compute=None),
    "per axis of unknown rank": unshaped(quantize(dtypes.INT8, (6, 140), PerAxis(0)), "x", rank=False),
}
TRANSFORMED = {
    "per tensor": (quantize(dtypes.INT8, zero=True), "quantize<float32>int8, per tensor>(Div(x, s), 1, z)"),
    "divided in float16": (
        quantize(dtypes.INT8, x=dtypes.FLOAT16, scale=dtypes.FLOAT16, compute=dtypes.FLOAT16),
        "quantize<float32>int8, per tensor>(Cast:float32(Cast:float16(Div(Cast:float32(x), cast[float32](s)))), 1)",
    ),
    "per axis, one zero point": (
        quantize(dtypes.UINT8, (6, 140), PerAxis(0), zero=3),
        "quantize<float32>uint8, per tensor>(Div(x, reshape[(6, 1)](s)), 1, first[(0,), ()](z))",
    ),
    "blocks": (
        quantize(dtypes.INT4, (4, 140), Blocked(1, 14), zero=3),
        "quantize<float32>int4, per tensor>(Reshape(Div(Reshape(x, [4, 10, 14, 1]), reshape[(4, 10, 1, 1)](s)), [4, 140]), 1, "
        "first[(0, 1), ()](z))",
    ),
    "a scale of the run": (
        quantize(dtypes.INT8, (6, 140), PerAxis(0), live="xs"),
        "quantize<float32>int8, per tensor>(Div(x, Reshape(s, [6, 1])), 1)",
    ),
}
EXACT = {
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    "divided in bfloat16": quantize(dtypes.INT8, x=dtypes.BFLOAT16, scale=dtypes.BFLOAT16, compute=dtypes.BFLOAT16, scales=[0.1]),
    "float32 x divided in float16": quantize(dtypes.INT16, scale=dtypes.FLOAT16, compute=dtypes.FLOAT16, scales=[0.1]),
    "float16 x divided in float32": quantize(dtypes.INT8, x=dtypes.FLOAT16, scale=dtypes.FLOAT16, scales=[0.1]),
    "int32 x": quantize(dtypes.INT8, x=dtypes.INT32, scales=[3.0], zero=1),
    "float8": quantize(dtypes.FLOAT8E4M3FN, (3, 200), PerAxis(1)),
    "ragged blocks": quantize(dtypes.INT8, (2, 139), Blocked(1, 32), zero=3),
    "blocks along the first axis": quantize(dtypes.UINT8, (12, 47), Blocked(0, 4), zero=3),
    "a run-time zero point": quantize(dtypes.INT8, zero=3, live="xsz"),
    "scale and zero point of shape 1": vectors(quantize(dtypes.INT8, zero=3, live="xsz")),
    "all zero points equal": quantize(dtypes.INT4, (3, 140), PerAxis(0), zero=-8),
    "saturation off": quantize(dtypes.FLOAT8E5M2FNUZ, saturate=False),
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(divide_first, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(divide_first, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(divide_first, case)
