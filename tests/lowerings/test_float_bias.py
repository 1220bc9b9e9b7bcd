from __future__ import annotations

from qdqtool import dtypes
from qdqtool.lowerings import float_bias
from qdqtool.quantization import PerAxis
from tests.lowerings.given import Given, dequantize, quantize
from tests.lowerings.verbs import Asked, cases, exact, facts, noop, transformed

NOOP = {
    "quantize": quantize(dtypes.INT8),
    "codes of the run": dequantize(dtypes.INT8, live="x"),
    "scale of the run": dequantize(dtypes.INT8, live="s"),
    "zero point of the run": dequantize(dtypes.INT8, zero=True, live="z"),
}
TRANSFORMED = {"int32": (dequantize(dtypes.INT32), "dequantize[per tensor, float32](x, s)")}
EXACT = {
    **{name: given for name, (given, _) in TRANSFORMED.items()},
    "with zero point": dequantize(dtypes.UINT8, zero=True),
    "per axis": dequantize(dtypes.INT8, (7,), PerAxis(0), zero=True),
    "float16": dequantize(dtypes.INT8, scale=dtypes.FLOAT16, expressed=dtypes.FLOAT16),
}


@cases(NOOP)
def test_noop(case: Given) -> None:
    noop(float_bias, case)


@cases(TRANSFORMED)
def test_transformed(case: tuple[Given, str]) -> None:
    transformed(float_bias, *case)


@cases(EXACT)
def test_exact(case: Given) -> None:
    exact(float_bias, case)


def test_other_steps_stay() -> None:
    given = dequantize(dtypes.INT32)
    asked = Asked(21, facts(given))
    asked.bias = False
    assert list(float_bias.say(given.step, asked)) == []
