from __future__ import annotations

from qdqtool import dtypes
from qdqtool.lowerings import float_grid
from qdqtool.quantization import Blocked, PerAxis
from tests.kernels.samples import FLOAT_STORAGE
from tests.lowerings.given import Given, dequantize, meaning, quantize
from tests.lowerings.verbs import cases, exact, noop, transformed

NOOP = {
    "a dequantize": dequantize(dtypes.FLOAT8E5M2),
    "codes as such": quantize(dtypes.FLOAT8E5M2),
    "integers": quantize(dtypes.INT8, carrier=dtypes.FLOAT),
    "not saturating": quantize(dtypes.FLOAT8E5M2, saturate=False, carrier=dtypes.FLOAT),
    "unknown precision": meaning(quantize(dtypes.FLOAT8E5M2, carrier=dtypes.FLOAT), compute=None),
}
TRANSFORMED = {
    "float8": (
        quantize(dtypes.FLOAT8E4M3FN, carrier=dtypes.FLOAT),
        "Where(Less(Abs(Clip(Div(x, s), -448, 448)), 0.015625), Sub(Add(Clip(Div(x, s), -448, 448), 24576), 24576), Sub(Mul(Clip("
        "Div(x, s), -448, 448), 1.04858e+06), Sub(Mul(Clip(Div(x, s), -448, 448), 1.04858e+06), Clip(Div(x, s), -448, 448))))",
    ),
    "float4 in blocks": (
        quantize(dtypes.FLOAT4E2M1, (2, 96), Blocked(1, 32), carrier=dtypes.FLOAT),
        "Reshape(Where(Less(Abs(Clip(Div(Reshape(x, [2, 3, 32, 1]), reshape[(2, 3, 1, 1)](s)), -6, 6)), 1), Sub(Add(Clip(Div("
        "Reshape(x, [2, 3, 32, 1]), reshape[(2, 3, 1, 1)](s)), -6, 6), 6.29146e+06), 6.29146e+06), Sub(Mul(Clip(Div(Reshape(x, "
        "[2, 3, 32, 1]), reshape[(2, 3, 1, 1)](s)), -6, 6), 4.1943e+06), Sub(Mul(Clip(Div(Reshape(x, [2, 3, 32, 1]), reshape[(2, "
        "3, 1, 1)](s)), -6, 6), 4.1943e+06), Clip(Div(Reshape(x, [2, 3, 32, 1]), reshape[(2, 3, 1, 1)](s)), -6, 6)))), [2, 96])",
    ),
}
EXACT = {
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    **{f"{t}, scale {s}": quantize(t, scales=[s], carrier=dtypes.FLOAT) for t in FLOAT_STORAGE for s in (1.0, 0.1, -0.25, 300.0)},
    "per axis": quantize(dtypes.FLOAT6E2M3, (6, 200), PerAxis(0), carrier=dtypes.FLOAT),
    "divided in float16": quantize(
        dtypes.FLOAT8E4M3FN, x=dtypes.FLOAT16, scale=dtypes.FLOAT16, compute=dtypes.FLOAT16, carrier=dtypes.FLOAT
    ),
    "float8 with a zero point": quantize(dtypes.FLOAT8E5M2, zero=1, carrier=dtypes.FLOAT),
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(float_grid, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(float_grid, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(float_grid, case)
