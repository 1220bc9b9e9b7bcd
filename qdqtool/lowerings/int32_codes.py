"""Codes with their zero point taken off, as int32: int16 and uint16 where the target lacks them, per-axis zero points where it
knows scalars only. ``q - z`` of types up to 16 bits is exact in int32 and in float32 (dialects.md G.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool import dtypes, phrases
from qdqtool.expressions import Computed, Expr, Literal, Step, Stored, binary, cast, is_const
from qdqtool.lowerings import Context, Said
from qdqtool.quantization import Blocked, PerAxis, PerTensor

NAME = "int32-codes"


def say(step: Step, context: Context) -> Iterator[Said]:
    storage = step.meaning.storage
    if step.meaning.kind != "dequantize" or storage is None or not storage.integer or storage.bits > 32:
        return
    if storage is dtypes.INT32 and step.zero_point is None:
        return
    codes = centred(step)
    if codes is not None:
        yield Said(replace(step, meaning=replace(step.meaning, storage=dtypes.INT32), x=codes, zero_point=None))


def centred(step: Step) -> Expr | None:
    """``int32(q - z)`` shaped like q; None when z cannot be broadcast here."""
    if step.zero_point is None:
        return cast(step.x, dtypes.INT32)
    if is_const(step.x) and is_const(step.zero_point):
        return _computed(step)
    if isinstance(step.meaning.granularity, Blocked):
        return None
    zero = phrases.spread(cast(step.zero_point, dtypes.INT32), step)
    return None if zero is None else binary("Sub", cast(step.x, dtypes.INT32), zero)


def _computed(step: Step) -> Expr | None:
    x, zero = step.x, step.zero_point
    assert isinstance(x, Stored | Literal | Computed)
    assert isinstance(zero, Stored | Literal | Computed)
    place: tuple[int, int] | None
    match step.meaning.granularity:
        case PerTensor():
            place = None
        case PerAxis(axis):
            place = (axis, 1)
        case Blocked(axis, block):
            place = (axis, block)
        case _:
            return None
    return Computed("subtract", (x, zero), (place,), dtypes.INT32, x.shape)
