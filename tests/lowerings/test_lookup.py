from __future__ import annotations

from qdqtool import dtypes
from qdqtool.lowerings import lookup
from qdqtool.quantization import Blocked, PerAxis
from tests.kernels.samples import FLOAT_STORAGE
from tests.lowerings.given import Given, dequantize, meaning, quantize, vectors
from tests.lowerings.verbs import cases, exact, noop, transformed

NOOP = {
    "integers": dequantize(dtypes.INT8),
    "a quantize": quantize(dtypes.FLOAT8E5M2),
    "codes of the run": dequantize(dtypes.FLOAT8E5M2, live="x"),
    "codes as float32": dequantize(dtypes.FLOAT8E5M2, carrier=dtypes.FLOAT),
    "unknown output": meaning(dequantize(dtypes.FLOAT8E5M2), expressed=None),
}
TRANSFORMED = {
    "float8": (dequantize(dtypes.FLOAT8E4M3FN), "Mul(Gather(table[256], Cast:int32(codes[](x))), s)"),
    "float4 in blocks": (
        dequantize(dtypes.FLOAT4E2M1, (3, 32), Blocked(1, 8)),
        "Reshape(Mul(Reshape(Gather(table[16], Cast:int32(codes[](x))), [3, 4, 8, 1]), reshape[(3, 4, 1, 1)](s)), [3, 32])",
    ),
    "float16, run-time scales": (
        dequantize(dtypes.FLOAT6E3M2, (6, 64), PerAxis(0), expressed=dtypes.FLOAT16, scale=dtypes.FLOAT16, live="s"),
        "Cast:float16(Mul(Gather(table[64], Cast:int32(codes[](x))), Reshape(Cast:float32(s), [6, 1])))",
    ),
}
EXACT = {
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    **{f"{t}, scale {s}": dequantize(t, scales=[s]) for t in FLOAT_STORAGE for s in (0.1, -0.25, 1e-40, 3e38)},
    "ragged blocks": dequantize(dtypes.FLOAT8E5M2FNUZ, (2, 130), Blocked(1, 32)),
    "along the first axis": dequantize(dtypes.FLOAT8E4M3FNUZ, (32, 9), Blocked(0, 8)),
    "bfloat16": dequantize(dtypes.FLOAT8E4M3FN, expressed=dtypes.BFLOAT16, scale=dtypes.BFLOAT16),
    "scale of shape 1": vectors(dequantize(dtypes.FLOAT4E2M1)),
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(lookup, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(lookup, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(lookup, case)
