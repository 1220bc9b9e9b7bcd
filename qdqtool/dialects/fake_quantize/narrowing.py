"""Fewer rows of a constant input, for a probe."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from qdqtool import packed
from qdqtool.expressions import Const, Expr, Op, is_const


def narrowed(expr: Expr, limit: int) -> Expr:
    if not isinstance(expr, Op) or not expr.domain or not is_const(x := expr.inputs[0]) or prod(x.shape) <= limit:
        return expr
    count = max(1, limit * x.shape[0] // prod(x.shape))
    ends = (_rows(e, x, count) if is_const(e) else e for e in expr.inputs[1:])
    return replace(expr, inputs=(packed.first(x, 0, count), *ends), shape=(count, *x.shape[1:]))


def _rows(end: Const, x: Const, count: int) -> Const:
    return packed.first(end, 0, count) if len(end.shape) == len(x.shape) and end.shape[0] > 1 else end
