from __future__ import annotations

from qdqtool import dtypes
from qdqtool.lowerings import int32_codes
from qdqtool.quantization import Blocked, ByScale, PerAxis
from tests.lowerings.given import Given, dequantize, meaning, quantize, vectors
from tests.lowerings.verbs import cases, exact, noop, transformed

NOOP = {
    "a quantize": quantize(dtypes.INT8),
    "int32 without zero point": dequantize(dtypes.INT32),
    "float8": dequantize(dtypes.FLOAT8E5M2),
    "blocks, run-time zero points": dequantize(dtypes.INT4, (3, 64), Blocked(1, 16), zero=True, live="xz"),
    "run-time scale of unknown rank": meaning(dequantize(dtypes.INT16, (3, 64), PerAxis(0), zero=True), granularity=ByScale(0)),
}
TRANSFORMED = {
    "int16": (dequantize(dtypes.INT16, zero=True), "dequantize<int32>float32, per tensor>(subtract[None](x, z), s)"),
    "uint16 without zero point": (dequantize(dtypes.UINT16), "dequantize<int32>float32, per tensor>(cast[int32](x), s)"),
    "per axis": (
        dequantize(dtypes.UINT16, (6, 50), PerAxis(0), zero=True),
        "dequantize<int32>float32, per axis 0>(subtract[(0, 1)](x, z), s)",
    ),
    "blocks": (
        dequantize(dtypes.UINT16, (6, 50), Blocked(1, 20), zero=True),
        "dequantize<int32>float32, blocks of 20 along axis 1>(subtract[(1, 20)](x, z), s)",
    ),
    "codes of the run": (
        dequantize(dtypes.UINT16, (6, 50), PerAxis(0), zero=True, live="x"),
        "dequantize<int32>float32, per axis 0>(Sub(Cast:int32(x), reshape[(6, 1)](cast[int32](z))), s)",
    ),
    "all of the run": (
        dequantize(dtypes.INT16, zero=True, live="xsz"),
        "dequantize<int32>float32, per tensor>(Sub(Cast:int32(x), Cast:int32(z)), s)",
    ),
    "int32 with zero point": (dequantize(dtypes.INT32, zero=True), "dequantize<int32>float32, per tensor>(subtract[None](x, z), s)"),
}
EXACT = {
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    "int4 per axis": dequantize(dtypes.INT4, (3, 16), PerAxis(0), zero=True),
    "uint8 along the last axis": dequantize(dtypes.UINT8, (50, 6), PerAxis(1), zero=True, live="xsz"),
    "in the middle": dequantize(dtypes.INT16, (4, 5, 6), PerAxis(1), zero=True, live="x"),
    "blocks without zero point": dequantize(dtypes.INT16, (6, 50), Blocked(0, 4), live="x"),
    "float16": dequantize(dtypes.INT16, expressed=dtypes.FLOAT16, scale=dtypes.FLOAT16, scales=[0.001], zero=True),
    "vectors of one": vectors(dequantize(dtypes.INT16, zero=True, live="xsz")),
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(int32_codes, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(int32_codes, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(int32_codes, case)
