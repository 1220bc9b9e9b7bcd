from __future__ import annotations

from qdqtool import dtypes
from qdqtool.lowerings import unit_scale
from qdqtool.quantization import Blocked, PerAxis
from tests.lowerings.given import Given, dequantize, quantize, unshaped
from tests.lowerings.verbs import cases, exact, noop, transformed

NOOP = {
    "a quantize": quantize(dtypes.INT8, (6, 140), PerAxis(0)),
    "per tensor": dequantize(dtypes.INT8),
    "float8": dequantize(dtypes.FLOAT8E5M2, (6, 140), PerAxis(0)),
    "float16": dequantize(dtypes.INT8, (6, 50), PerAxis(0), expressed=dtypes.FLOAT16, scale=dtypes.FLOAT16),
    "float16 scale": dequantize(dtypes.INT8, (6, 50), PerAxis(0), scale=dtypes.FLOAT16),
    "unknown rank": unshaped(dequantize(dtypes.INT8, (6, 50), PerAxis(0), live="x"), "x", rank=False),
}
TRANSFORMED = {
    "per axis": (dequantize(dtypes.INT8, (6, 50), PerAxis(0)), "Mul(dequantize<int8>float32, per tensor>(x, 1), reshape[(6, 1)](s))"),
    "with zero points": (
        dequantize(dtypes.INT8, (6, 50), PerAxis(0), zero=True),
        "Mul(dequantize<int32>float32, per tensor>(subtract[(0, 1)](x, z), 1), reshape[(6, 1)](s))",
    ),
    "blocks": (
        dequantize(dtypes.INT8, (6, 64), Blocked(1, 16)),
        "Reshape(Mul(dequantize<int8>float32, per tensor>(reshape[(6, 4, 16, 1)](x), 1), reshape[(6, 4, 1, 1)](s)), [6, 64])",
    ),
    "ragged blocks with zero points": (
        dequantize(dtypes.INT8, (6, 50), Blocked(1, 16), zero=True),
        "Reshape(Mul(dequantize<int32>float32, per tensor>(reshape[(6, 25, 2, 1)](subtract[(1, 16)](x, z)), 1), reshape[(6, 25, "
        "1, 1)](reblock[1, 16, 2, 25](s))), [6, 50])",
    ),
    "codes of the run": (
        dequantize(dtypes.UINT8, (6, 50), PerAxis(1), zero=True, live="xsz"),
        "Mul(dequantize<int32>float32, per tensor>(Sub(Cast:int32(x), Cast:int32(z)), 1), s)",
    ),
}
EXACT = {
    "ragged, scales of the run": dequantize(dtypes.INT8, (6, 50), Blocked(1, 16), live="s"),
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    "blocks along the first axis": dequantize(dtypes.INT8, (64, 6), Blocked(0, 16), zero=True),
    "run-time blocks": dequantize(dtypes.INT8, (64, 6), Blocked(0, 16), live="xs"),
    "ragged, first axis": dequantize(dtypes.INT8, (50, 6), Blocked(0, 16)),
    "int32": dequantize(dtypes.INT32, (6, 50), PerAxis(0)),
    "int4": dequantize(dtypes.INT4, (6, 50), PerAxis(0), zero=True),
    "extreme scales": dequantize(dtypes.INT8, (5, 256), PerAxis(0), scales=[1e-40, 2.0**-149, 3e38, -1e-39, 1.0]),
    "unknown sizes": unshaped(dequantize(dtypes.INT8, (6, 50), PerAxis(0), live="x"), "x"),
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(unit_scale, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(unit_scale, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(unit_scale, case)
