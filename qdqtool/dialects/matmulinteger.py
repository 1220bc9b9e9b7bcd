"""Products of dequantized operands as products of their integers, scaled afterwards: MatMulInteger or ConvInteger, Cast, Mul.

The form of dynamic quantization, which ONNX Runtime computes in integers. Integers are added up exactly and scaled once, so sums are equal
up to rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from qdqtool import dtypes
from qdqtool.dialects import Asking, Impossible, Saying, Way
from qdqtool.dtypes import ElementType
from qdqtool.exactness import Bound, Exactness
from qdqtool.expressions import Attribute, Expr, Op, Shape, Step, binary, is_const, reshape
from qdqtool.integers import first, integer_product, scaled
from qdqtool.quantization import Meaning, PerAxis, PerTensor

NAME = "matmulinteger"
DOMAIN = ""
OPERATORS: tuple[tuple[str, str], ...] = ()
LAST = ("MatMul", "Conv", "Cast")
INNER = LAST

INTEGER = {"MatMul": "MatMulInteger", "Conv": "ConvInteger"}

U8, I8 = dtypes.UINT8, dtypes.INT8
KERNELS = {"MatMul": ((U8, U8), (U8, I8), (I8, I8), (I8, U8)), "Conv": ((U8, U8), (U8, I8))}
"""Types of both operands in ONNX Runtime's kernels on CPU."""

SUM = Bound(of_maximum=2.0**-19)
"""16 ulps of float32."""


def result(op: str, attributes: Mapping[str, Attribute], inputs: Sequence[Expr | None]) -> tuple[ElementType | None, Shape | None]:
    return None, None


def meaning(op: Op) -> Meaning | None:
    return None


def split(op: Op, asking: Asking) -> Saying | Impossible:
    return Impossible(("it is no operator of its own",))


def fuse(expr: Expr, asking: Asking) -> Saying | Impossible | None:
    match expr:
        case Op("Cast", (Op("MatMul" | "Conv", (Step() as left, Step() as right)) as plain,)) if expr.dtype is dtypes.INT32:
            return None if _unfit(plain, left, right, ()) or not (_by_one(left, asking) and _by_one(right, asking)) else _alone(plain)
        case Op("MatMul" | "Conv", (Step() as left, Step() as right, *rest)) if left.meaning.kind == right.meaning.kind == "dequantize":
            reasons = _unfit(expr, left, right, rest)
            if reasons:
                return Impossible(reasons)
            product = integer_product(INTEGER[expr.op], left, right, expr.attributes, expr.shape)
            whole = scaled(product, left, right)
            bias = _bias(rest[0], right) if rest and rest[0] is not None else None
            found = whole if bias is None else binary("Add", whole, bias)
            return Saying((Way(found, Exactness.ROUNDING, SUM),), right.meaning)
    return None


def _by_one(step: Step, asking: Asking) -> bool:
    """Its codes less their zero point are its values."""
    return step.meaning.kind == "dequantize" and is_const(step.scale) and asking.fact("value_range", step.scale) == (1.0, 1.0)


def _alone(plain: Op) -> Saying:
    left, right = plain.inputs
    assert isinstance(left, Step)
    assert isinstance(right, Step)
    found = integer_product(INTEGER[plain.op], left, right, plain.attributes, plain.shape)
    return Saying((Way(found, Exactness.ROUNDING, SUM),), right.meaning)


def _unfit(expr: Op, left: Step, right: Step, rest: Sequence[Expr | None]) -> tuple[str, ...]:
    types, reasons = (left.meaning.storage, right.meaning.storage), []
    if types not in KERNELS[expr.op]:
        reasons.append(f"ONNX Runtime has no {INTEGER[expr.op]} of {types[0]} and {types[1]}")
    if any(said.expressed is not dtypes.FLOAT or said.scale_type is not dtypes.FLOAT for said in (left.meaning, right.meaning)):
        reasons.append("its real values or scales are not float32")
    rank = None if right.x.shape is None else len(right.x.shape)
    columns = PerAxis(rank - 1) if expr.op == "MatMul" and rank is not None else PerTensor()
    if left.meaning.granularity != PerTensor() or right.meaning.granularity not in (PerTensor(), columns):
        reasons.append(f"{INTEGER[expr.op]} has no scales for its rows, nor ConvInteger for its channels")
    if rest and rest[0] is not None and right.x.shape is None:
        reasons.append("the rank of its bias is not known here")
    return tuple(reasons)


def _bias(bias: Expr, weights: Step) -> Expr:
    """What is added to each channel."""
    return reshape(bias, (-1 if not is_const(bias) else prod(bias.shape), *(1,) * (len(weights.x.shape or ()) - 2)))


def narrowed(expr: Expr, limit: int) -> Expr:
    match expr:
        case Op("Cast", (Op() as plain,)):
            return replace(expr, inputs=(narrowed(plain, limit),), shape=None)
        case Op("MatMul", (Step() as left, Step() as right)) if is_const(right.x) and prod(right.x.shape) > limit:
            count = max(1, limit * right.x.shape[-1] // prod(right.x.shape))
            along = isinstance(right.meaning.granularity, PerAxis)
            scale, zero = (part if part is None or not along else first(part, -1, count) for part in (right.scale, right.zero_point))
            assert scale is not None
            x = first(right.x, -1, count)
            return replace(expr, inputs=(left, replace(right, x=x, scale=scale, zero_point=zero, shape=x.shape)), shape=None)
    return expr
