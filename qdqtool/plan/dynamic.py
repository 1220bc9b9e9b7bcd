"""DynamicQuantizeLinear below opset 11, where it does not exist: ONNX Runtime's formula in plain operators and quantize steps.

``scale = (max(x, 0) - min(x, 0)) / 255``, 1 where that is 0; ``zero point = sat(round(-min / scale))`` is a quantize by 1, which
brings the rounding that opset 10 lacks.
"""

from __future__ import annotations

from dataclasses import dataclass

from qdqtool import dtypes, phrases
from qdqtool.expressions import Expr, Op, Step, binary, cast, literal
from qdqtool.quantization import Meaning, PerTensor


@dataclass(frozen=True, slots=True)
class Dynamic:
    """The three results."""

    y: Expr
    scale: Expr
    zero_point: Expr


def expand(x: Expr, opset: int) -> Dynamic:
    """The results of ``DynamicQuantizeLinear(x)`` for a float32 `x`."""
    high, low = _extreme("ReduceMax", "Max", x), _extreme("ReduceMin", "Min", x)
    width = binary("Div", binary("Sub", high, low), literal(255.0, dtypes.FLOAT))
    scale = binary("Add", width, cast(_not_positive(width), dtypes.FLOAT))
    lowest = binary("Sub", literal(0.0, dtypes.FLOAT), binary("Div", low, scale))
    bounded = phrases.clip(lowest, 0.0, 255.0, opset)
    zero = _quantized(bounded, literal(1.0, dtypes.FLOAT), None)
    return Dynamic(_quantized(x, scale, zero), scale, zero)


def _extreme(reduce: str, against_zero: str, x: Expr) -> Op:
    reduced = Op(reduce, (x,), (("keepdims", 0),), dtypes.FLOAT, ())
    return Op(against_zero, (reduced, literal(0.0, dtypes.FLOAT)), (), dtypes.FLOAT, ())


def _not_positive(value: Expr) -> Op:
    return Op("Not", (Op("Greater", (value, literal(0.0, dtypes.FLOAT)), (), dtypes.BOOL, ()),), (), dtypes.BOOL, ())


def _quantized(x: Expr, scale: Expr, zero: Expr | None) -> Step:
    meaning = Meaning("quantize", dtypes.UINT8, dtypes.FLOAT, dtypes.FLOAT, PerTensor(), dtypes.FLOAT)
    return Step(meaning, x, scale, zero, dtypes.UINT8, x.shape)
