"""Products of integers that are scaled afterwards (MatMulInteger or ConvInteger, Cast, Mul) as products of dequantized operands.

Alone they are products of codes dequantized by one, cast to int32. What remains of dynamic quantization is DynamicQuantizeLinear, whose
scale and zero point the dequantize of its codes reads. Integers are added up exactly and scaled once, so sums are equal up to rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from qdqtool import dtypes
from qdqtool.dialects import Asking, Impossible, Saying, Way
from qdqtool.dtypes import ElementType
from qdqtool.exactness import Bound, Exactness
from qdqtool.expressions import Attribute, Expr, Op, Shape, elements, is_const, literal, run_time_cast
from qdqtool.integers import ONE, Unsayable, dequantized, first, vector
from qdqtool.quantization import Meaning

NAME = "qdq"
DOMAIN = ""
OPERATORS: tuple[tuple[str, str], ...] = ()
LAST = ("Mul", "MatMulInteger", "ConvInteger")
INNER = ("Cast", "ConvInteger", "MatMulInteger", "Mul")

PLAIN = {"MatMulInteger": "MatMul", "ConvInteger": "Conv"}

SUM = Bound(of_maximum=2.0**-19)
"""16 ulps of float32."""

EXACT = 2**24
"""Up to here float32 holds every integer."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A product of integers, and the scale of either operand."""

    product: Op
    scales: tuple[Expr, Expr]


def result(op: str, attributes: Mapping[str, Attribute], inputs: Sequence[Expr | None]) -> tuple[ElementType | None, Shape | None]:
    return None, None


def meaning(op: Op) -> Meaning | None:
    return None


def split(op: Op, asking: Asking) -> Saying | Impossible:
    return Impossible(("it is no operator of its own",))


def fuse(expr: Expr, asking: Asking) -> Saying | Impossible | None:
    found = chain(expr)
    if found is None:
        return None
    try:
        return _said(found, expr)
    except Unsayable as reason:
        return Impossible((str(reason),))


def chain(expr: Expr) -> Chain | None:
    """A product of integers cast to float32 and multiplied by a scale, or by the product of two; or such a product alone."""
    one = literal(1.0, dtypes.FLOAT)
    match expr:
        case Op(op) if op in PLAIN and not expr.domain:
            return Chain(expr, (one, one))
        case Op("Mul", (Op("Cast", (Op() as product,)) as real, scale)) if scale is not None:
            return _chain(product, real, scale)
        case Op("Mul", (scale, Op("Cast", (Op() as product,)) as real)) if scale is not None:
            return _chain(product, real, scale)
    return None


def _chain(product: Op, real: Op, scale: Expr) -> Chain | None:
    if product.op not in PLAIN or product.domain or real.dtype is not dtypes.FLOAT or scale.dtype not in (None, dtypes.FLOAT):
        return None
    match scale:
        case Op("Mul", (a, b)) if a is not None and b is not None:
            # One for each column belongs to the second operand.
            return Chain(product, (a, b) if a.shape in ONE else (b, a))
        case Op():
            return None
    one = literal(1.0, dtypes.FLOAT)
    return Chain(product, (scale, one) if not is_const(scale) and scale.shape in ONE else (one, scale))


def _said(found: Chain, expr: Expr) -> Saying:
    x, y, x_zero, y_zero, *_ = (*found.product.inputs, None, None)
    assert expr.dtype is not None
    if x is None or y is None or (x_zero is not None and x_zero.shape not in ONE):
        raise Unsayable("an operand is missing, or the first has zero points for its rows")
    left, right = dequantized(x, found.scales[0], x_zero, None), dequantized(y, _flat(found.scales[1]), y_zero, _axis(found.product))
    plain = Op(PLAIN[found.product.op], (left, right), found.product.attributes, dtypes.FLOAT, expr.shape)
    if expr == found.product and _terms(found.product) * 255**2 <= EXACT:
        return Saying((Way(run_time_cast(plain, dtypes.INT32)),), right.meaning)
    return Saying((Way(run_time_cast(plain, expr.dtype), Exactness.ROUNDING, SUM),), right.meaning)


def _terms(product: Op) -> int:
    """How many products of codes are added up; more than are exact where it is not known."""
    weights = product.inputs[1]
    shape = None if weights is None else weights.shape
    lengths = None if shape is None or len(shape) < 2 else shape[-2:-1] if product.op == "MatMulInteger" else shape[1:]
    return EXACT if lengths is None or None in lengths else elements(lengths)


def _axis(product: Op) -> int | None:
    """Where the second operand may have a scale for each index; a convolution's would not lie along the last axis of its result."""
    return -1 if product.op == "MatMulInteger" else None


def _flat(scale: Expr) -> Expr:
    """Scales of columns as a vector."""
    shape = scale.shape
    return vector(scale, shape[-1]) if shape and shape[-1] is not None and prod(d or 0 for d in shape) == shape[-1] else scale


def narrowed(expr: Expr, limit: int) -> Expr:
    found = chain(expr)
    weights = None if found is None else found.product.inputs[1]
    if found is None or found.product.op != "MatMulInteger" or not is_const(weights) or prod(weights.shape) <= limit:
        return expr
    return _rebuilt(expr, found.product, max(1, limit * weights.shape[-1] // prod(weights.shape)))


def _rebuilt(expr: Expr, product: Op, count: int) -> Expr:
    """The chain around a product with fewer columns."""
    if expr == product:
        cut = (part if part is None or slot % 2 == 0 else first(part, -1, count) for slot, part in enumerate(product.inputs))
        return replace(product, inputs=tuple(cut), shape=None)
    if isinstance(expr, Op):
        return replace(expr, inputs=tuple(None if i is None else _rebuilt(i, product, count) for i in expr.inputs), shape=None)
    return first(expr, -1, count) if is_const(expr) else expr
