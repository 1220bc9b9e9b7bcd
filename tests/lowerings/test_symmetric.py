from __future__ import annotations

from qdqtool import dtypes
from qdqtool.expressions import Step
from qdqtool.lowerings import symmetric
from qdqtool.quantization import Blocked, PerAxis
from tests.lowerings.given import Given, dequantize, meaning, quantize
from tests.lowerings.verbs import Asked, cases, exact, facts, noop, transformed

NOOP = {
    "no zero point": dequantize(dtypes.INT8),
    "int32": dequantize(dtypes.INT32, zero=True),
    "float8": dequantize(dtypes.FLOAT8E4M3FN),
    "quantize": quantize(dtypes.UINT8, zero=True),
    "codes of the run": dequantize(dtypes.INT8, zero=True, live="x"),
    "zero point of the run": dequantize(dtypes.INT8, zero=True, live="z"),
    "unknown codes": meaning(dequantize(dtypes.INT8, zero=True), storage=None),
}
TRANSFORMED = {
    "that fit": (
        dequantize(dtypes.UINT8, zero=100, codes=range(40, 180)),
        "dequantize<int8>float32, per tensor>(cast[int8](subtract[None](x, z)), s)",
    ),
    "that do not fit": (dequantize(dtypes.UINT8, zero=100), "dequantize<int16>float32, per tensor>(cast[int16](subtract[None](x, z)), s)"),
    "unsigned without zero point": (
        dequantize(dtypes.UINT4, codes=range(8)),
        "dequantize<int4>float32, per tensor>(cast[int4](cast[int32](x)), s)",
    ),
}
EXACT = {
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    "per axis": dequantize(dtypes.INT8, (6, 16), PerAxis(0), zero=True),
    "blocks": dequantize(dtypes.UINT4, (6, 16), Blocked(1, 4), zero=True),
    "all codes of int8": dequantize(dtypes.INT8, zero=100),
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(symmetric, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(symmetric, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(symmetric, case)


def test_only_a_bias_becomes_int32() -> None:
    given = dequantize(dtypes.UINT16, zero=100)
    found = []
    for bias in (False, True):
        asked = Asked(21, facts(given))
        asked.bias = bias
        found.append([str(said.expr.meaning.storage) for said in symmetric.say(given.step, asked) if isinstance(said.expr, Step)])
    assert found == [[], ["int32"]]
