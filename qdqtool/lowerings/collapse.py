"""A coarser granularity where the constants allow it: equal blocks become per axis or per tensor, one block likewise.

Exact, since every element keeps its scale and zero point. Empty tensors get any scale.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool.expressions import Computed, Expr, Step, is_const, literal
from qdqtool.lowerings import Context, Said
from qdqtool.quantization import Blocked, Granularity, PerAxis, PerTensor

NAME = "collapse"


def say(step: Step, context: Context) -> Iterator[Said]:
    if not isinstance(step.meaning.granularity, PerAxis | Blocked) or step.x.shape is None or step.scale.dtype is None:
        return
    if 0 in step.x.shape:
        one = literal(1, step.scale.dtype)
        yield Said(replace(step, meaning=replace(step.meaning, granularity=PerTensor()), scale=one, zero_point=None))
        return
    parameters = [p for p in (step.scale, step.zero_point) if p is not None]
    if not all(is_const(p) for p in parameters):
        return
    shape = step.scale.shape or ()
    if 0 in shape:
        return
    varying = [d for d in range(len(shape)) if any(_varies(p, d, context) for p in parameters)]
    coarser = _coarser(step, varying)
    if coarser is not None:
        yield Said(coarser)


def _varies(parameter: Expr, axis: int, context: Context) -> bool:
    assert is_const(parameter)
    return bool(len(parameter.shape) > axis and parameter.shape[axis] != 1 and not context.fact("equal_along", parameter, axis))


def _coarser(step: Step, varying: list[int]) -> Step | None:
    granularity: Granularity
    if not varying:
        granularity = PerTensor()
    elif len(varying) == 1 and isinstance(step.meaning.granularity, Blocked) and _whole(step, varying[0]):
        granularity = PerAxis(varying[0])
    else:
        return None
    zero = None if step.zero_point is None else _kept(step.zero_point, varying)
    return replace(step, meaning=replace(step.meaning, granularity=granularity), scale=_kept(step.scale, varying), zero_point=zero)


def _whole(step: Step, axis: int) -> bool:
    """Scales differ along an axis that has one scale for each index."""
    where = step.meaning.granularity
    return isinstance(where, Blocked) and (axis != where.axis or where.block == 1)


def _kept(parameter: Expr, varying: list[int]) -> Expr:
    assert is_const(parameter)
    axes = tuple(d for d in range(len(parameter.shape)) if d not in varying)
    shape = tuple(parameter.shape[d] for d in varying)
    return Computed("first", (parameter,), (axes, shape), parameter.dtype, shape)
