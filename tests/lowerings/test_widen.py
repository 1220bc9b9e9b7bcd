from __future__ import annotations

from qdqtool import dtypes
from qdqtool.lowerings import widen
from qdqtool.quantization import Blocked, PerAxis
from tests.lowerings.given import Given, dequantize, meaning, quantize
from tests.lowerings.verbs import cases, exact, noop, transformed

NARROW = (
    (dtypes.INT4, dtypes.INT8),
    (dtypes.UINT4, dtypes.UINT8),
    (dtypes.INT2, dtypes.INT8),
    (dtypes.UINT2, dtypes.UINT8),
)
NOOP = {
    "int8": dequantize(dtypes.INT8),
    "float4": dequantize(dtypes.FLOAT4E2M1),
    "unknown codes": meaning(dequantize(dtypes.INT4), storage=None),
}
TRANSFORMED = {
    "int4": (dequantize(dtypes.INT4, zero=True), "dequantize<int8>float32, per tensor>(cast[int8](x), s, cast[int8](z))"),
    "uint2 in blocks": (
        dequantize(dtypes.UINT2, (3, 32), Blocked(1, 8), zero=True),
        "dequantize<uint8>float32, blocks of 8 along axis 1>(cast[uint8](x), s, cast[uint8](z))",
    ),
    "codes of the run": (
        dequantize(dtypes.UINT4, zero=True, live="xz", carrier=dtypes.UINT8),
        "dequantize<uint8>float32, per tensor>(x, s, Cast:uint8(z))",
    ),
    "quantize to int4": (
        quantize(dtypes.INT4, zero=True),
        "Cast:int4(Clip(quantize<float32>int8, per tensor>(x, s, cast[int8](z)), -8, 7))",
    ),
    "quantize to uint2, as float32": (
        quantize(dtypes.UINT2, (6, 140), PerAxis(0), carrier=dtypes.FLOAT),
        "Cast:float32(Clip(quantize<float32>uint8, per axis 0>(x, s), 0, 3))",
    ),
}
EXACT = {
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    **{
        f"quantize to {t}, zero point {z}": quantize(t, scales=[0.25], zero=int(z), carrier=w)
        for t, w in NARROW
        for z in (t.low, 0, t.high)
    },
    **{f"dequantize {t}": dequantize(t, (6, 16), PerAxis(0), zero=True) for t, _ in NARROW},
    "blocks": quantize(dtypes.INT4, (2, 140), Blocked(1, 35), zero=True, carrier=dtypes.INT8),
    "float16": quantize(dtypes.INT4, x=dtypes.FLOAT16, scale=dtypes.FLOAT16, carrier=dtypes.INT8, zero=True),
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(widen, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(widen, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(widen, case)
