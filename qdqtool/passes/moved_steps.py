"""A dequantized constant moved: the movement carried out on its codes, with scales and axis moved along; None where that is not exact.

Every element keeps its own scale and zero point, so the result has the same bits. Blocks must stay whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

from qdqtool.expressions import Computed, Const, Step, is_const, literal
from qdqtool.passes.movements import Gathered, Joined, Movement, Permuted, Reshaped, Sliced, carried
from qdqtool.quantization import Blocked, Granularity, PerAxis, PerTensor
from qdqtool.raising.layouts import Part, meet, of_granularity, reshaped

Parameters = tuple[Granularity, Callable[[Const], Const]]
"""The new granularity, and what becomes of scale and zero point."""

Same = Callable[[Step, Step], bool]
"""Whether two steps have the same scale and zero point."""


def moved(movement: Movement, steps: Sequence[Step], same: Same) -> Step | None:
    """The step that gives what `movement` makes of the results of `steps`, all dequantize steps of constant codes."""
    step = steps[0]
    codes = carried(movement, [s.x for s in steps if is_const(s.x)])
    if isinstance(movement, Joined):
        return _joined(movement.axis, steps, codes, same)
    if isinstance(movement, Reshaped):
        return _reshaped(step, codes)
    found = _along(movement, step)
    if found is None:
        return None
    granularity, change = found
    return _with(step, codes, granularity, *(change(p) for p in parameters(step)))


def parameters(step: Step) -> tuple[Const, ...]:
    """Scale, and the zero point if there is one."""
    return tuple(p for p in (step.scale, step.zero_point) if is_const(p))


def _with(step: Step, codes: Const, granularity: Granularity, scale: Const, zero: Const | None = None) -> Step:
    if prod(scale.shape) == 1:
        granularity, scale, zero = PerTensor(), _single(scale), None if zero is None else _single(zero)
    meaning = replace(step.meaning, granularity=granularity)
    return replace(step, meaning=meaning, x=codes, scale=scale, zero_point=zero, shape=codes.shape)


def _single(parameter: Const) -> Const:
    """The one value of a tensor."""
    return parameter if len(parameter.shape) < 2 else reshaped(parameter, ())


def _along(movement: Movement, step: Step) -> Parameters | None:
    where = step.meaning.granularity
    if isinstance(where, PerTensor):
        return where, lambda p: p
    match movement, where:
        case Permuted(perm), PerAxis(axis):
            return PerAxis(perm.index(axis)), lambda p: p
        case Permuted(perm), Blocked(axis, block):
            return Blocked(perm.index(axis), block), lambda p: carried(movement, [p])
        case Gathered(), PerAxis() | Blocked():
            return _gathered(movement, where)
        case Sliced(), PerAxis(axis):
            along = Sliced((movement.ranges[axis],))
            return where, lambda p: carried(along, [p])
        case Sliced(), Blocked():
            return _sliced(movement, where)
    return None


def _gathered(movement: Gathered, where: PerAxis | Blocked) -> Parameters | None:
    rank = len(movement.indices.shape)
    if isinstance(where, PerAxis):
        if where.axis != movement.axis:
            return PerAxis(where.axis + (rank - 1 if where.axis > movement.axis else 0)), lambda p: p
        along = replace(movement, axis=0)
        if rank > 1:
            return None
        return (PerAxis(where.axis) if rank else PerTensor()), lambda p: carried(along, [p])
    if where.axis == movement.axis:
        return None
    shift = rank - 1 if where.axis > movement.axis else 0
    return Blocked(where.axis + shift, where.block), lambda p: carried(movement, [p])


def _sliced(movement: Sliced, where: Blocked) -> Parameters | None:
    start, stride, count = movement.ranges[where.axis]
    if start % where.block or stride != 1 or not count:
        return None
    blocks = (start // where.block, 1, -(-count // where.block))
    ranges = tuple(blocks if axis == where.axis else r for axis, r in enumerate(movement.ranges))
    return where, lambda p: carried(Sliced(ranges), [p])


def _reshaped(step: Step, codes: Const) -> Step | None:
    if isinstance(step.meaning.granularity, PerTensor):
        return _with(step, codes, PerTensor(), *parameters(step))
    factors = of_granularity(step.meaning.granularity, step.x.shape or ())
    if factors is None or 0 in codes.shape:
        return None
    met = meet(codes.shape, [Part(p, factors) for p in parameters(step)], widen=False)
    return None if met is None else _with(step, codes, met[0], *met[1])


def _joined(axis: int, steps: Sequence[Step], codes: Const, same: Same) -> Step | None:
    if len({replace(s.meaning, granularity=None) for s in steps}) > 1:
        return None
    steps = _with_zero_points(steps)
    first = steps[0]
    grains = {s.meaning.granularity for s in steps}
    equal = all(same(steps[0], s) for s in steps[1:])
    if grains == {PerTensor()}:
        return _with(first, codes, PerTensor(), *parameters(first)) if equal else _per_index(axis, steps, codes)
    if grains <= {PerTensor(), PerAxis(axis)}:
        return _per_index(axis, steps, codes)
    if len(grains) > 1:
        return None
    where = first.meaning.granularity
    if isinstance(where, Blocked):
        whole = where.axis != axis or all(s.x.shape[axis] % where.block == 0 for s in steps[:-1] if is_const(s.x))
        return _with(first, codes, where, *_concatenated(axis, steps)) if whole else None
    return _with(first, codes, where, *parameters(first)) if where is not None and equal else None


def _with_zero_points(steps: Sequence[Step]) -> Sequence[Step]:
    """Zeros where some steps have a zero point and others have none."""
    if len({s.zero_point is None for s in steps}) == 1:
        return steps
    storage = next(s.zero_point.dtype for s in steps if s.zero_point is not None)
    assert storage is not None
    filled = (s.zero_point or literal(0, storage, tuple(d or 0 for d in s.scale.shape or ())) for s in steps)
    return [replace(s, zero_point=zero) for s, zero in zip(steps, filled, strict=True)]


def _per_index(axis: int, steps: Sequence[Step], codes: Const) -> Step:
    """A scale for each index along the axis on which tensors with scales of their own were joined."""
    return _with(steps[0], codes, PerAxis(axis), *_concatenated(0, [_spread(s, (s.x.shape or ())[axis] or 0) for s in steps]))


def _spread(step: Step, length: int) -> Step:
    scale, *zero = (_vector(p, length) for p in parameters(step))
    return replace(step, scale=scale, zero_point=zero[0] if zero else None)


def _vector(parameter: Const, length: int) -> Const:
    if prod(parameter.shape) != 1 or parameter.shape == (length,):
        return parameter
    return Computed("expand", (reshaped(parameter, (1,)),), ((length,),), parameter.dtype, (length,))


def _concatenated(axis: int, steps: Sequence[Step]) -> tuple[Const, ...]:
    return tuple(carried(Joined(axis), column) for column in zip(*(parameters(s) for s in steps), strict=True))
