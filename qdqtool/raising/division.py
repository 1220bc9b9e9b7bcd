"""A division and a quantize by 1: a quantize by the divisor, in the type the quotient was rounded to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isfinite

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Const, Expr, Op, Step, known
from qdqtool.lowerings import Said
from qdqtool.quantization import PerTensor
from qdqtool.raising import Context
from qdqtool.raising.pieces import as_type, constant, is_unit, operator, own_parts, regrouped, spread_part, with_parameters

NAME = "division"

HALVES = (dtypes.FLOAT16, dtypes.BFLOAT16)


def raised(expr: Expr, context: Context) -> Iterator[Said]:
    if not isinstance(expr, Step) or expr.meaning.kind != "quantize" or expr.x.dtype is not dtypes.FLOAT:
        return
    if expr.meaning.compute is not dtypes.FLOAT or not is_unit(expr.scale, context):
        return
    inner, shape = operator(expr.x, "Reshape"), known(expr.shape)
    if inner is None:
        step = _divided(expr, context)
    elif inner.inputs[0] is None or shape is None or not isinstance(expr.meaning.granularity, PerTensor):
        return
    else:
        grouped = _divided(replace(expr, x=inner.inputs[0], shape=inner.inputs[0].shape), context)
        step = None if grouped is None else regrouped(grouped, shape)
    if step is not None:
        yield Said(step)


def _divided(step: Step, context: Context) -> Step | None:
    quotient, compute = _unrounded(step.x)
    div = operator(quotient, "Div")
    if div is None or div.inputs[0] is None or div.dtype is not dtypes.FLOAT:
        return None
    x, scale = _in_type(div.inputs[0], compute), _scale(constant(div.inputs[1]), compute, context)
    if x is None or scale is None or x.shape != step.shape or not _divides(scale, context):
        return None
    part, rest = spread_part(scale, step), own_parts(step, scale=False)
    meaning = replace(step.meaning, expressed=x.dtype, compute=compute)
    if part is None or rest is None:
        return None
    return with_parameters(replace(step, meaning=meaning, x=x), part, rest[0] if rest else None)


def _divides(scale: Const, context: Context) -> bool:
    """No quotient is NaN, which arithmetic and QuantizeLinear make different codes of."""
    low, high = context.fact("value_range", scale)
    return bool(isfinite(low) and isfinite(high) and (low > 0 or high < 0))


def _unrounded(value: Expr) -> tuple[Expr | None, ElementType]:
    """The quotient, and the type it is rounded to."""
    wide = operator(value, "Cast")
    half = None if wide is None else operator(wide.inputs[0], "Cast")
    if half is not None and half.dtype in HALVES:
        return half.inputs[0], half.dtype
    return value, dtypes.FLOAT


def _in_type(x: Expr, compute: ElementType) -> Expr | None:
    """A dividend of the type of the division."""
    if compute is dtypes.FLOAT:
        return x
    shape: list[Op] = []
    while (op := operator(x, "Reshape")) is not None and op.inputs[0] is not None:
        shape.append(op)
        x = op.inputs[0]
    cast = operator(x, "Cast")
    inner = None if cast is None else cast.inputs[0]
    if inner is None or inner.dtype is not compute:
        return None
    for op in reversed(shape):
        inner = replace(op, inputs=(inner, *op.inputs[1:]), dtype=compute)
    return inner


def _scale(scale: Const | None, compute: ElementType, context: Context) -> Const | None:
    if scale is None or scale.dtype is not dtypes.FLOAT or compute is dtypes.FLOAT:
        return scale
    return as_type(scale, compute) if context.fact("held_in", scale, compute) else None
