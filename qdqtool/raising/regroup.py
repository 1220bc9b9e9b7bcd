"""Reshape, Slice and Transpose behind a step drawn into it: rows per block become blocks.

Of a step that stands in the model only rows of ``[rows, block]`` are drawn in; anything else around it is the model's own business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from qdqtool.expressions import Computed, Const, Expr, Op, Step, known
from qdqtool.lowerings import Said
from qdqtool.quantization import Blocked, Granularity, PerAxis
from qdqtool.raising import Context
from qdqtool.raising.pieces import constant, operator, regrouped

NAME = "regroup"


def raised(expr: Expr, context: Context) -> Iterator[Said]:
    if not isinstance(expr, Op) or expr.domain or not isinstance(expr.inputs[0], Step):
        return
    draw = DRAWN.get(expr.op)
    step = None if draw is None else draw(expr, expr.inputs[0], context)
    if step is not None:
        yield Said(step)


def _reshape(op: Op, step: Step, context: Context) -> Step | None:
    shape, old = known(op.shape), known(step.shape)
    if shape is None or old is None:
        return None
    found = regrouped(step, shape, widen=not context.original(step))
    if found is None or not context.original(step):
        return found
    rows = step.meaning.granularity == PerAxis(0) and len(old) == 2
    return found if rows and isinstance(found.meaning.granularity, Blocked) else None


def _slice(op: Op, step: Step, context: Context) -> Step | None:
    """Padding at the end of the blocked axis cut off."""
    shape, old, where, x = known(op.shape), known(step.shape), step.meaning.granularity, constant(step.x)
    if context.original(step) or x is None or shape is None or old is None or not isinstance(where, Blocked):
        return None
    if not _cuts_end(op, where.axis, context) or shape[: where.axis] + shape[where.axis + 1 :] != old[: where.axis] + old[where.axis + 1 :]:
        return None
    length = shape[where.axis]
    if -(-length // where.block) != -(-old[where.axis] // where.block):
        return None
    return replace(step, x=Computed("window", (x,), (where.axis, ((0, length),)), x.dtype, shape), shape=shape)


def _cuts_end(op: Op, axis: int, context: Context) -> bool:
    rank = 0 if op.shape is None else len(op.shape)
    attributes = dict(op.attributes)
    if len(op.inputs) == 1:
        return attributes.get("starts") == (0,) and attributes.get("axes") in ((axis,), (axis - rank,))
    given = [constant(e) for e in op.inputs[1:]]
    found = [context.fact("value_range", c) if c is not None and c.shape == (1,) else None for c in given]
    steps = found[3] if len(found) > 3 else (1, 1)
    return len(found) > 2 and found[0] == (0, 0) and found[2] in ((axis, axis), (axis - rank, axis - rank)) and steps == (1, 1)


def _transpose(op: Op, step: Step, context: Context) -> Step | None:
    perm, shape = dict(op.attributes).get("perm"), known(op.shape)
    if context.original(step) or not isinstance(perm, tuple) or shape is None:
        return None
    order = tuple(int(p) for p in perm)
    x = _moved(step.x, order)
    if x is None:
        return None
    where = _moved_granularity(step.meaning.granularity, order)
    scale, zero = (_moved_parameter(e, step, order) for e in (step.scale, step.zero_point))
    if scale is None or (zero is None and step.zero_point is not None):
        return None
    return replace(step, meaning=replace(step.meaning, granularity=where), x=x, scale=scale, zero_point=zero, shape=shape)


def _moved(x: Expr, perm: tuple[int, ...]) -> Expr | None:
    const, op = constant(x), operator(x, "Transpose")
    if const is not None:
        return transposed(const, perm)
    before = None if op is None else dict(op.attributes).get("perm")
    if op is not None and isinstance(before, tuple) and tuple(before[p] for p in perm) == tuple(range(len(perm))):
        return op.inputs[0]
    return None


def transposed(const: Const, perm: tuple[int, ...]) -> Const:
    return Computed("transpose", (const,), (perm,), const.dtype, tuple(const.shape[p] for p in perm))


def _moved_granularity(where: Granularity | None, perm: tuple[int, ...]) -> Granularity | None:
    return replace(where, axis=perm.index(where.axis)) if isinstance(where, PerAxis | Blocked) else where


def _moved_parameter(parameter: Expr | None, step: Step, perm: tuple[int, ...]) -> Expr | None:
    const = constant(parameter)
    if const is None or not isinstance(step.meaning.granularity, Blocked):
        return const
    return transposed(const, perm)


DRAWN: dict[str, Callable[[Op, Step, Context], Step | None]] = {"Reshape": _reshape, "Slice": _slice, "Transpose": _transpose}
