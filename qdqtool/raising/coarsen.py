"""Scales that repeat from block to block, as smaller blocks leave them, told once for larger blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import gcd

from qdqtool.expressions import Computed, Const, Expr, Step
from qdqtool.lowerings import Said
from qdqtool.quantization import Blocked
from qdqtool.raising import Context
from qdqtool.raising.pieces import constant

NAME = "coarsen"


def raised(expr: Expr, context: Context) -> Iterator[Said]:
    if not isinstance(expr, Step) or context.original(expr) or not isinstance(expr.meaning.granularity, Blocked):
        return
    where = expr.meaning.granularity
    parameters = [constant(e) for e in (expr.scale, expr.zero_point) if e is not None]
    consts = [c for c in parameters if c is not None]
    if len(consts) != len(parameters) or consts[0].shape[where.axis] < 2:
        return
    times = gcd(*(context.fact("period", c, where.axis) for c in consts)) or consts[0].shape[where.axis]
    if times > 1:
        scale, *zero = (_every(c, where.axis, times) for c in consts)
        meaning = replace(expr.meaning, granularity=Blocked(where.axis, where.block * times))
        yield Said(replace(expr, meaning=meaning, scale=scale, zero_point=zero[0] if zero else None))


def _every(const: Const, axis: int, times: int) -> Const:
    count = -(-const.shape[axis] // times)
    shape = (*const.shape[:axis], count, *const.shape[axis + 1 :])
    return Computed("reblock", (const,), (axis, 1, times, count), const.dtype, shape)
