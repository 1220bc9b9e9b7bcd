"""Dequantize as Cast, Sub, Mul: for opsets without DequantizeLinear, and for codes that travel as float32.

Exact for codes of 16 bits or fewer, and for int32 without a zero point, since both sides round ``float32(q)`` alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool import dtypes, phrases
from qdqtool.expressions import Expr, Step, binary, cast, run_time_cast
from qdqtool.lowerings import Context, Said, without_effect

NAME = "plain-arithmetic"


def say(step: Step, context: Context) -> Iterator[Said]:
    meaning = step.meaning
    if meaning.kind != "dequantize" or meaning.storage is None or meaning.expressed is None:
        return
    values = phrases.grouped(run_time_cast(step.x, dtypes.FLOAT), step)
    scale = phrases.spread(cast(step.scale, dtypes.FLOAT), step)
    centred = None if values is None else _without_zero_point(values, step, context)
    if centred is not None and scale is not None:
        yield Said(cast(phrases.ungrouped(binary("Mul", centred, scale), step), meaning.expressed))


def _without_zero_point(values: Expr, step: Step, context: Context) -> Expr | None:
    storage = step.meaning.storage
    assert storage is not None
    if step.zero_point is None:
        return values
    if storage.kind == "float":
        return values if without_effect(step.zero_point, step, context) else None
    if storage.bits > 16:
        return None
    zero = phrases.spread(cast(step.zero_point, dtypes.FLOAT), step)
    return None if zero is None else binary("Sub", values, zero)
