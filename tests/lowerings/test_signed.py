from __future__ import annotations

import pytest

from qdqtool import dtypes
from qdqtool.lowerings import even_blocks, signed, symmetric
from qdqtool.quantization import Blocked, PerAxis
from tests.lowerings.given import Given, dequantize, meaning, quantize
from tests.lowerings.verbs import Asked, cases, exact, facts, noop, transformed

NOOP = {
    "int8": dequantize(dtypes.INT8),
    "float8": dequantize(dtypes.FLOAT8E4M3FN),
    "quantize": quantize(dtypes.UINT8, zero=True),
    "codes of the run": dequantize(dtypes.UINT8, zero=True, live="x"),
    "zero point of the run": dequantize(dtypes.UINT8, zero=True, live="z"),
    "codes in another type": dequantize(dtypes.UINT4, zero=True, carrier=dtypes.UINT8),
    "unknown codes": meaning(dequantize(dtypes.UINT8), storage=None),
}
TRANSFORMED = {
    "uint8": (dequantize(dtypes.UINT8, zero=True), "dequantize<int8>float32, per tensor>(recentre[int8](x), s, recentre[int8](z))"),
    "no zero point": (dequantize(dtypes.UINT4), "dequantize<int4>float32, per tensor>(recentre[int4](x), s, -8)"),
}
EXACT = {
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    **{f"{t} per axis": dequantize(t, (6, 16), PerAxis(0), zero=True) for t in signed.SIGNED},
    **{f"{t} without zero point": dequantize(t, (6, 16), Blocked(1, 4)) for t in signed.SIGNED},
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(signed, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(signed, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(signed, case)


@pytest.mark.parametrize("lowering", [signed, symmetric, even_blocks])
def test_nothing_is_said_where_no_runtime_asks(lowering: object) -> None:
    given = dequantize(dtypes.UINT8, (3, 10), Blocked(1, 4), zero=True, codes=range(20))
    asked = Asked(21, facts(given))
    assert list(lowering.say(given.step, asked))  # type: ignore[attr-defined]
    asked.bound = False
    assert not list(lowering.say(given.step, asked))  # type: ignore[attr-defined]
