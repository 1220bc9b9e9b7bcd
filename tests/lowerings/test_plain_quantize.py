from __future__ import annotations

from qdqtool import dtypes
from qdqtool.lowerings import plain_quantize
from qdqtool.quantization import Blocked, PerAxis
from tests.lowerings.given import Given, dequantize, meaning, quantize, unshaped, vectors
from tests.lowerings.verbs import cases, exact, noop, transformed

WIDE = (dtypes.INT8, dtypes.UINT8, dtypes.INT16, dtypes.UINT16)
NOOP = {
    "a dequantize": dequantize(dtypes.INT8),
    "float8": quantize(dtypes.FLOAT8E5M2),
    "int32": meaning(quantize(dtypes.INT16), storage=dtypes.INT32),
    "unknown precision": meaning(quantize(dtypes.INT8), compute=None),
    "per axis of unknown rank": unshaped(quantize(dtypes.INT8, (6, 140), PerAxis(0)), "x", rank=False),
}
TRANSFORMED = {
    "per tensor": (quantize(dtypes.INT8, zero=True), "Cast:int8(Clip(Add(Round(Div(x, s)), cast[float32](z)), -128, 127))"),
    "no zero point, as float32": (quantize(dtypes.UINT8, carrier=dtypes.FLOAT), "Clip(Add(Round(Div(x, s)), 0), 0, 255)"),
    "per axis, as int32": (
        quantize(dtypes.INT16, (6, 140), PerAxis(0), zero=True, carrier=dtypes.INT32),
        "Cast:int32(Clip(Add(Round(Div(x, reshape[(6, 1)](s))), reshape[(6, 1)](cast[float32](z))), -32768, 32767))",
    ),
    "blocks": (
        quantize(dtypes.INT4, (2, 139), Blocked(1, 32), zero=True, carrier=dtypes.INT8),
        "Cast:int8(Reshape(Clip(Add(Round(Div(Reshape(x, [2, 139, 1, 1]), reshape[(2, 139, 1, 1)](reblock[1, 32, 1, 139](s)))), "
        "reshape[(2, 139, 1, 1)](reblock[1, 32, 1, 139](cast[float32](z)))), -8, 7), [2, 139]))",
    ),
}
EXACT = {
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    **{f"{t}, zero point {z}": quantize(t, scales=[0.25], zero=int(z)) for t in WIDE for z in (t.low, t.high, 1)},
    "zero points of the run": quantize(dtypes.UINT8, (6, 140), PerAxis(0), zero=True, live="xsz"),
    "divided in float16": quantize(dtypes.INT16, x=dtypes.FLOAT16, scale=dtypes.FLOAT16, compute=dtypes.FLOAT16, scales=[0.1], zero=True),
    "float16 x divided in float32": quantize(dtypes.INT8, x=dtypes.FLOAT16, scale=dtypes.FLOAT16, zero=True),
    "int32 x": quantize(dtypes.UINT8, x=dtypes.INT32, scales=[3.0], zero=1),
    "narrow codes as float32": quantize(dtypes.INT2, zero=True, carrier=dtypes.FLOAT),
    "unknown sizes": unshaped(quantize(dtypes.INT8, (140, 6), PerAxis(1), zero=True), "x"),
    "blocks along the first axis": quantize(dtypes.UINT8, (12, 47), Blocked(0, 4), zero=True),
    "rank 0": vectors(quantize(dtypes.INT8, (), zero=True)),
    "extreme scales": quantize(dtypes.INT8, (4, 140), PerAxis(0), scales=[1e-40, 2.0**-149, 3e38, -1e-39]),
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(plain_quantize, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(plain_quantize, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(plain_quantize, case)
