"""A quantize and a dequantize by the same parameters as a FakeQuantize node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdqtool import dtypes
from qdqtool.dialects import Asking, Impossible, Saying, Way
from qdqtool.dialects.fake_quantize.ranges import DOMAIN, SCALE, SIGN, Numbers, remark_of
from qdqtool.dialects.fake_quantize.splitting import ROUNDED
from qdqtool.exactness import Bound, Exactness
from qdqtool.expressions import Expr, Op, Step, is_const, literal
from qdqtool.quantization import PerAxis, PerTensor


@dataclass(frozen=True, slots=True)
class _Pair:
    """A quantize and what reads its codes, between the lowest code and the highest."""

    first: Step
    second: Step
    low: int
    high: int


def fuse(expr: Expr, asking: Asking) -> Saying | Impossible | None:
    pair = _pair(expr, asking)
    if pair is None:
        return None
    first, where = pair.first, pair.first.meaning.granularity
    reasons = _unfit(pair, asking)
    if reasons:
        return Impossible(reasons)
    scale, zero = _numbers(first.scale, asking), np.zeros(1) if first.zero_point is None else _numbers(first.zero_point, asking)
    ends = [(code - zero).astype(np.float32) * scale.astype(np.float32) for code in (pair.low, pair.high)]
    levels = pair.high - pair.low + 1
    shape = _shape(first, where)
    low, high = (literal(end.reshape(shape), dtypes.FLOAT) for end in ends)
    inputs = (first.x, low, high, low, high)
    op = Op("FakeQuantize", inputs, (("levels", levels),), dtypes.FLOAT, expr.shape, DOMAIN)
    storage = first.meaning.storage
    sign = "signed" if storage is not None and storage.kind == "int" else "unsigned"
    way = Way(op, Exactness.ROUNDING, Bound(of_maximum=ROUNDED[dtypes.FLOAT], steps=1, ties=True))
    told = remark_of(scale, ends[0].astype(np.float64), ends[1].astype(np.float64), levels)
    return Saying((way,), first.meaning, ((SIGN, sign), (SCALE, told)))


def _pair(expr: Expr, asking: Asking) -> _Pair | None:
    if not isinstance(expr, Step) or expr.meaning.kind != "dequantize":
        return None
    match expr.x:
        case Step(said) as first if said.kind == "quantize" and said.storage is not None and said.storage.integer:
            return _Pair(first, expr, int(said.storage.low), int(said.storage.high))
        case Op("Clip", (Step(said) as first, low, high)) if said.kind == "quantize" and is_const(low) and is_const(high):
            bounds = [asking.fact("value_range", end) for end in (low, high)]
            return _Pair(first, expr, int(bounds[0][0]), int(bounds[1][1]))
    return None


def _unfit(pair: _Pair, asking: Asking) -> tuple[str, ...]:
    first, second = pair.first, pair.second
    said = first.meaning
    parameters = [(e, f) for e, f in ((first.scale, second.scale), (first.zero_point, second.zero_point)) if e is not None or f is not None]
    reasons = []
    if not isinstance(said.granularity, PerTensor | PerAxis) or (first.shape is None and isinstance(said.granularity, PerAxis)):
        reasons.append(f"FakeQuantize has no {said.granularity}")
    if not (said.expressed is said.scale_type is said.compute is second.meaning.expressed is dtypes.FLOAT):
        reasons.append("only float32 is made of it")
    if said.storage is None or said.storage.bits > 16:
        reasons.append(f"FakeQuantize has no {said.storage}")
    if any(not is_const(e) or not is_const(f) for e, f in parameters):
        reasons.append("its scales or zero points are not constant, or on one side only")
    elif said.granularity != second.meaning.granularity or any(not _same(e, f, asking) for e, f in parameters):
        reasons.append("its quantize and dequantize have different parameters")
    elif not (_numbers(first.scale, asking) > 0).all() or not np.isfinite(_numbers(first.scale, asking)).all():
        reasons.append("its scales are not positive")
    return tuple(reasons)


def _same(first: Expr | None, second: Expr | None, asking: Asking) -> bool:
    return first == second or bool(np.array_equal(_numbers(first, asking), _numbers(second, asking)))


def _numbers(const: Expr | None, asking: Asking) -> Numbers:
    assert is_const(const)
    found: Numbers = asking.fact("numbers", const)
    return found


def _shape(step: Step, where: object) -> tuple[int, ...]:
    """Ends broadcast against the input."""
    if not isinstance(where, PerAxis) or step.shape is None:
        return ()
    return tuple(-1 if axis == where.axis else 1 for axis in range(len(step.shape)))
