from __future__ import annotations

from qdqtool import dtypes
from qdqtool.lowerings import plain_arithmetic
from qdqtool.quantization import Blocked, ByScale, PerAxis
from tests.lowerings.given import Given, dequantize, meaning, quantize, unshaped, vectors
from tests.lowerings.verbs import cases, exact, noop, transformed

NOOP = {
    "a quantize": quantize(dtypes.INT8),
    "int32 with zero point": dequantize(dtypes.INT32, zero=True),
    "per axis of unknown rank": unshaped(dequantize(dtypes.INT8, (6, 50), PerAxis(0), live="x"), "x", rank=False),
    "unknown output": meaning(dequantize(dtypes.INT8), expressed=None),
    "run-time scale of unknown rank": meaning(dequantize(dtypes.INT8, (3, 64), PerAxis(0)), granularity=ByScale(0)),
}
TRANSFORMED = {
    "per tensor": (dequantize(dtypes.INT8, zero=True, live="x"), "Mul(Sub(Cast:float32(x), cast[float32](z)), s)"),
    "per axis": (
        dequantize(dtypes.INT8, (6, 50), PerAxis(0), zero=True),
        "Mul(Sub(Cast:float32(x), reshape[(6, 1)](cast[float32](z))), reshape[(6, 1)](s))",
    ),
    "blocks": (
        dequantize(dtypes.INT8, (6, 50), Blocked(0, 4), zero=True, live="x"),
        "Reshape(Mul(Sub(Reshape(Cast:float32(x), [1, 3, 2, 50]), reshape[(1, 3, 1, 50)](reblock[0, 4, 2, 3](cast[float32]("
        "z)))), reshape[(1, 3, 1, 50)](reblock[0, 4, 2, 3](s))), [6, 50])",
    ),
    "float8": (dequantize(dtypes.FLOAT8E4M3FN, live="x"), "Mul(Cast:float32(x), s)"),
    "carried as float32, to float16": (
        dequantize(dtypes.INT4, expressed=dtypes.FLOAT16, scale=dtypes.FLOAT16, live="xsz", zero=True, carrier=dtypes.FLOAT),
        "Cast:float16(Mul(Sub(x, Cast:float32(z)), Cast:float32(s)))",
    ),
}
EXACT = {
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    "int16": dequantize(dtypes.INT16, zero=True),
    "int32": dequantize(dtypes.INT32),
    "uint8 along the last axis": dequantize(dtypes.UINT8, (50, 6), PerAxis(1), zero=True, live="xsz"),
    "run-time blocks": dequantize(dtypes.INT8, (6, 64), Blocked(1, 16), zero=True, live="xsz"),
    "one run-time block": dequantize(dtypes.UINT8, (6, 50), Blocked(1, 64), zero=True, live="xsz"),
    "float8 with a zero point": dequantize(dtypes.FLOAT8E5M2, live="x", scales=[0.5]),
    "unknown sizes": unshaped(dequantize(dtypes.INT8, (6, 50), PerAxis(1), zero=True, live="x"), "x"),
    "per tensor of unknown rank": unshaped(dequantize(dtypes.INT8, zero=True, live="x"), "x", rank=False),
    "rank 0": dequantize(dtypes.INT8, (), zero=True, live="x"),
    "rank 0, vectors of one": vectors(dequantize(dtypes.INT8, (), zero=True, live="xsz")),
    "nothing": dequantize(dtypes.INT8, (0, 3), PerAxis(1), zero=True, live="x"),
    "extreme scales": dequantize(dtypes.INT8, (5, 256), PerAxis(0), scales=[1e-40, 2.0**-149, 3e38, -1e-39, 1.0], live="x"),
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(plain_arithmetic, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(plain_arithmetic, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(plain_arithmetic, case)
