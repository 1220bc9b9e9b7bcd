from __future__ import annotations

from qdqtool import dtypes
from qdqtool.lowerings import carry
from qdqtool.quantization import PerAxis
from tests.lowerings.given import Given, dequantize, meaning, quantize
from tests.lowerings.verbs import cases, exact, noop, transformed

NOOP = {
    "a dequantize": dequantize(dtypes.INT4),
    "codes in their own type": quantize(dtypes.INT4),
    "codes of unknown type": meaning(quantize(dtypes.INT4, carrier=dtypes.INT8), storage=None),
}
TRANSFORMED = {
    "int4 as int8": (quantize(dtypes.INT4, zero=True, carrier=dtypes.INT8), "Cast:int8(quantize<float32>int4, per tensor>(x, s, z))"),
    "float8 as float32": (
        quantize(dtypes.FLOAT8E4M3FN, carrier=dtypes.FLOAT),
        "Cast:float32(quantize<float32>float8e4m3fn, per tensor>(x, s))",
    ),
    "int16 as int32": (
        quantize(dtypes.INT16, (6, 140), PerAxis(0), zero=True, carrier=dtypes.INT32),
        "Cast:int32(quantize<float32>int16, per axis 0>(x, s, z))",
    ),
}
EXACT = {
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    "uint2 as uint8": quantize(dtypes.UINT2, zero=True, carrier=dtypes.UINT8),
    "uint8 as float32": quantize(dtypes.UINT8, zero=True, carrier=dtypes.FLOAT),
    "float8 with its own zero": quantize(dtypes.FLOAT8E5M2FNUZ, carrier=dtypes.FLOAT),
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(carry, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(carry, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(carry, case)
