from __future__ import annotations

from qdqtool import dtypes
from qdqtool.lowerings import scaled_integers
from qdqtool.quantization import Blocked, PerAxis
from tests.kernels.samples import FLOAT_STORAGE
from tests.lowerings.given import Given, dequantize, meaning, quantize
from tests.lowerings.verbs import cases, exact, noop, transformed

HELD = [t for t in FLOAT_STORAGE if t not in (dtypes.FLOAT8E5M2, dtypes.FLOAT8E5M2FNUZ)]
NOOP = {
    "integers": dequantize(dtypes.INT8),
    "a quantize": quantize(dtypes.FLOAT8E5M2),
    "codes of the run": dequantize(dtypes.FLOAT4E2M1, live="x"),
    "a scale of the run": dequantize(dtypes.FLOAT4E2M1, live="s"),
    "NaN among the codes": dequantize(dtypes.FLOAT8E4M3FN),
    "infinities among the codes": dequantize(dtypes.FLOAT8E5M2, codes=[1.0, float("inf")]),
    "more than 32 bits": dequantize(dtypes.FLOAT8E5M2, finite=True),
    "a scale too small to divide": dequantize(dtypes.FLOAT4E2M1, scales=[2.0**-149]),
    "unknown output": meaning(dequantize(dtypes.FLOAT4E2M1), expressed=None),
}
TRANSFORMED = {
    "float4": (dequantize(dtypes.FLOAT4E2M1), "dequantize<int8>float32, per tensor>(times[1, int8](x), divide[1](s))"),
    "float4 without -0": (
        dequantize(dtypes.FLOAT4E2M1, codes=[0.0, 0.5, -6.0, 1.5]),
        "dequantize<int8>float32, per tensor>(times[1, int8](x), divide[1](s))",
    ),
    "float8 per axis": (
        dequantize(dtypes.FLOAT8E4M3FN, (6, 254), PerAxis(0), finite=True),
        "dequantize<int32>float32, per axis 0>(times[9, int32](x), divide[9](s))",
    ),
    "float6 in blocks, e8m0 scales": (
        dequantize(dtypes.FLOAT6E3M2, (2, 64), Blocked(1, 32), scale=dtypes.FLOAT8E8M0),
        "dequantize<int16>float32, blocks of 32 along axis 1>(times[4, int16](x), divide[4](cast[float32](s)))",
    ),
    "only integers": (
        dequantize(dtypes.FLOAT8E5M2, codes=[0.0, 1.0, -4.0, 512.0]),
        "dequantize<int16>float32, per tensor>(times[0, int16](x), s)",
    ),
    "float16": (
        dequantize(dtypes.FLOAT6E2M3, expressed=dtypes.FLOAT16, scale=dtypes.FLOAT16, scales=[0.001]),
        "Cast:float16(dequantize<int8>float32, per tensor>(times[3, int8](x), divide[3](cast[float32](s))))",
    ),
}
EXACT = {
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    **{f"{t}, scale {s}": dequantize(t, finite=True, scales=[s]) for t in HELD for s in (0.1, -0.25, 1e-30, 3e38)},
    "e5m2 up to 28672": dequantize(dtypes.FLOAT8E5M2, codes=[28672.0, 2.0**-16, -1.5, 0.25]),
    "e5m2fnuz up to 14336": dequantize(dtypes.FLOAT8E5M2FNUZ, codes=[14336.0, 2.0**-17, -1.5]),
    "the highest bit": dequantize(dtypes.FLOAT8E5M2, codes=[-57344.0, 2.0**-14, 1.0]),
    "bfloat16": dequantize(dtypes.FLOAT4E2M1, expressed=dtypes.BFLOAT16, scale=dtypes.BFLOAT16),
    "nothing": dequantize(dtypes.FLOAT4E2M1, (0, 3), PerAxis(1)),
    "zero point": dequantize(dtypes.FLOAT8E4M3FN, (6, 254), PerAxis(0), finite=True, zero=0),
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(scaled_integers, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(scaled_integers, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(scaled_integers, case)
