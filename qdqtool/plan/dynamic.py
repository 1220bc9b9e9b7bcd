"""DynamicQuantizeLinear below opset 11, where it does not exist: ONNX Runtime's formula in plain operators and quantize steps.

``scale = (max(x, 0) - min(x, 0)) / 255``, 1 where that is 0; ``zero point = sat(round(-min / scale))`` is a quantize by 1, which
brings the rounding that opset 10 lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qdqtool import dtypes, phrases
from qdqtool.exactness import NO_BOUND, Exactness
from qdqtool.expressions import Expr, Op, Step, binary, cast, literal
from qdqtool.model.graph import Place, domain
from qdqtool.plan.choices import Choice, Rejection
from qdqtool.plan.entries import Replace
from qdqtool.quantization import Meaning, PerTensor

if TYPE_CHECKING:
    from qdqtool.plan.build import Builder

SINCE = 11
"""The first opset that has the operator."""


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


def plan_all(builder: Builder) -> None:
    """Plan every DynamicQuantizeLinear that the target lacks."""
    for place, scope, node in builder.view.places():
        if node.op_type != "DynamicQuantizeLinear" or domain(node.domain) or builder.target.opset >= SINCE:
            continue
        results = expand(builder.constants.expression(scope, node.input[0]), builder.target.opset)
        named = zip(node.output, (results.y, results.scale, results.zero_point), strict=False)
        _plan(builder, place, {name: expr for name, expr in named if name})


def _plan(builder: Builder, place: Place, results: dict[str, Expr]) -> None:
    found = {name: builder.chooser(place.scope).legalize(expr) for name, expr in results.items()}
    rejected = next((c for c in found.values() if isinstance(c, Rejection)), None)
    if rejected is not None:
        builder.refuser.step(place, rejected.reasons)
        return
    choices = {name: c for name, c in found.items() if isinstance(c, Choice)}
    names = tuple(dict.fromkeys(("dynamic", *(n for c in choices.values() for n in c.names))))
    exactness = max((c.exactness for c in choices.values()), default=Exactness.BIT_EQUAL)
    bound = sum((c.bound for c in choices.values()), NO_BOUND)
    outputs = tuple((name, c.expr) for name, c in choices.items())
    builder.plan.replaces[place] = Replace(place, outputs, "float32 to uint8, scale computed at run time", names, exactness, bound)
