"""Fewer channels of large weights, for a probe; and the same of their scales, zero points and bias."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from qdqtool.dialects.qoperator.forms import FORMS, channels, integer
from qdqtool.dialects.qoperator.patterns import pattern
from qdqtool.expressions import Expr, Op, Step, is_const
from qdqtool.integers import first
from qdqtool.quantization import PerAxis


def narrowed(expr: Expr, limit: int) -> Expr:
    if isinstance(expr, Op) and expr.op in FORMS:
        return _operator(expr, limit)
    found = pattern(expr)
    if found is None or not FORMS[found.name].weighted:
        return expr
    weights = found.operands[1]
    blank = Op(found.name, (), found.plain.attributes, found.plain.dtype, None)
    count = None if not isinstance(weights, Step) else _count(weights.x, channels(blank, 1), limit, integer(found.plain, "group", 1))
    return expr if count is None else _rebuilt(expr, found.plain, count, channels(blank, 1) or 0)


def _count(codes: Expr, axis: int | None, limit: int, groups: int) -> int | None:
    """Channels to keep; None when all are."""
    if axis is None or not is_const(codes) or groups != 1 or prod(codes.shape) <= limit or len(codes.shape) < 2:
        return None
    own = axis % len(codes.shape)
    return min(codes.shape[own], max(1, limit * codes.shape[own] // prod(codes.shape)))


def _operator(op: Op, limit: int) -> Op:
    form = FORMS[op.op]
    if not form.weighted:
        return op
    slots, axis = form.reads[1], channels(op, 1)
    codes = op.inputs[slots[0]]
    count = None if codes is None else _count(codes, axis, limit, integer(op, "group", 1))
    if codes is None or count is None or axis is None:
        return op
    inputs = list(op.inputs)
    inputs[slots[0]] = first(codes, axis, count)
    biases = [slot for slot in (form.bias, *(form.free if op.op == "MatMulIntegerToFloat" else ())) if slot is not None]
    for slot in (s for s in (*slots[1:], *biases) if s < len(inputs)):
        part = inputs[slot]
        inputs[slot] = None if part is None else first(part, -1, count)
    return replace(op, inputs=tuple(inputs), shape=None)


def _rebuilt(expr: Expr, plain: Op, count: int, axis: int) -> Expr:
    """The pattern around a plain operator with fewer channels."""
    if expr == plain:
        x, weights, *rest = plain.inputs
        parts = (_cut(weights, axis, count), *(_cut(part, -1, count) for part in rest))
        return replace(plain, inputs=(x, *parts), shape=None)
    if isinstance(expr, Step):
        return replace(expr, x=_rebuilt(expr.x, plain, count, axis), shape=None)
    if isinstance(expr, Op):
        return replace(expr, inputs=tuple(None if i is None else _rebuilt(i, plain, count, axis) for i in expr.inputs), shape=None)
    return expr


def _cut(expr: Expr | None, axis: int, count: int) -> Expr | None:
    if not isinstance(expr, Step):
        return expr
    x = first(expr.x, axis, count)
    along = isinstance(expr.meaning.granularity, PerAxis)
    scale, zero = (part if part is None or not along else first(part, -1, count) for part in (expr.scale, expr.zero_point))
    assert scale is not None
    return replace(expr, x=x, scale=scale, zero_point=zero, shape=x.shape)
