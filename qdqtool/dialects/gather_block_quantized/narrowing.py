"""Fewer rows of a table, for a probe; the indices become all there are, counted from either end."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from qdqtool import dtypes, packed
from qdqtool.dialects.gather_block_quantized.splitting import gathered
from qdqtool.dialects.gather_block_quantized.table import integers, pattern
from qdqtool.expressions import Const, Expr, Op, Step, literal
from qdqtool.packed import as_const
from qdqtool.quantization import PerAxis, PerTensor


def narrowed(expr: Expr, limit: int) -> Expr:
    if isinstance(expr, Op) and expr.domain:
        return _operator(expr, limit)
    found = pattern(expr)
    if found is None:
        return expr
    shape = as_const(found.table.x).shape
    table = _table(found.table, found.axis, _count(shape, found.axis, limit))
    indices = _everywhere(as_const(table.x).shape[found.axis])
    if found.parts:
        return gathered(table, indices, found.axis) or expr
    assert isinstance(expr, Op)
    return replace(expr, inputs=(table, indices), shape=None)


def _operator(op: Op, limit: int) -> Op:
    data, axis = as_const(op.inputs[0]), integers(op)["gather_axis"]
    axis %= len(data.shape)
    count = _count(data.shape, axis, limit)
    rest = (None if e is None else packed.first(as_const(e), axis, count) for e in op.inputs[2:])
    return replace(op, inputs=(packed.first(data, axis, count), _everywhere(count), *rest), shape=None)


def _count(shape: tuple[int, ...], axis: int, limit: int) -> int:
    """Indices to keep; all along another axis than the first, where blocks may lie."""
    return min(shape[0], max(1, limit * shape[0] // max(1, prod(shape)))) if axis == 0 else shape[axis]


def _table(table: Step, axis: int, count: int) -> Step:
    x, zero = packed.first(as_const(table.x), axis, count), table.zero_point
    parts = [as_const(e) for e in (table.scale, *(() if zero is None else (zero,)))]
    match table.meaning.granularity:
        case PerTensor():
            pass
        case PerAxis(own):
            parts = [packed.first(c, 0, count) for c in parts] if own == axis else parts
        case _:
            parts = [packed.first(c, axis, count) for c in parts]
    return replace(table, x=x, scale=parts[0], zero_point=(*parts, None)[1], shape=x.shape)


def _everywhere(count: int) -> Const:
    return literal(np.arange(-count, count), dtypes.INT64)
