from __future__ import annotations

from qdqtool import dtypes
from qdqtool.lowerings import float8_cast
from qdqtool.quantization import Blocked, PerAxis
from tests.lowerings.given import Given, dequantize, meaning, quantize
from tests.lowerings.verbs import cases, exact, noop, transformed

NOOP = {
    "a dequantize": dequantize(dtypes.FLOAT8E5M2),
    "integers": quantize(dtypes.INT8),
    "float4": quantize(dtypes.FLOAT4E2M1),
    "unknown precision": meaning(quantize(dtypes.FLOAT8E5M2), compute=None),
}
TRANSFORMED = {
    "per tensor": (quantize(dtypes.FLOAT8E4M3FN, zero=1), "Cast:float8e4m3fn(Div(x, s))"),
    "not saturating": (quantize(dtypes.FLOAT8E4M3FNUZ, saturate=False), "Cast:float8e4m3fnuz(Div(x, s))"),
    "float16, as float32": (
        quantize(dtypes.FLOAT8E5M2, x=dtypes.FLOAT16, scale=dtypes.FLOAT16, compute=dtypes.FLOAT16, carrier=dtypes.FLOAT),
        "Cast:float32(Cast:float8e5m2(Cast:float32(Cast:float16(Div(Cast:float32(x), cast[float32](s))))))",
    ),
    "blocks": (
        quantize(dtypes.FLOAT8E5M2FNUZ, (2, 200), Blocked(1, 50)),
        "Cast:float8e5m2fnuz(Reshape(Div(Reshape(x, [2, 4, 50, 1]), reshape[(2, 4, 1, 1)](s)), [2, 200]))",
    ),
}
EXACT = {
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    **{f"{t}, scale {s}": quantize(t, scales=[s]) for t in dtypes.FLOAT8 for s in (0.1, -0.25, 300.0)},
    "not saturating, e5m2fnuz": quantize(dtypes.FLOAT8E5M2FNUZ, saturate=False),
    "per axis": quantize(dtypes.FLOAT8E4M3FN, (6, 200), PerAxis(0), live="xs"),
    "bfloat16": quantize(dtypes.FLOAT8E4M3FN, x=dtypes.BFLOAT16, scale=dtypes.BFLOAT16, compute=dtypes.BFLOAT16),
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(float8_cast, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(float8_cast, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(float8_cast, case)


def test_there_is_no_cast_to_float8_below_opset_19() -> None:
    noop(float8_cast, quantize(dtypes.FLOAT8E5M2), opset=18)
