"""Quantize to integers in plain arithmetic: Div, Round, Add, Clip, Cast; below opset 11 rounding by a magic number, other ways to
round by Floor, Ceil and a comparison.

What the magic number is too small for saturates anyway. Exact for types of 16 bits or fewer and every input but NaN, which gives 0
or the lowest code. With codes carried as float32 the final Cast is left out; adding the zero point, even 0, turns -0 into +0 as
integers do.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool import dtypes, phrases
from qdqtool.expressions import Expr, Step, binary, cast, literal
from qdqtool.lowerings import Context, Said
from qdqtool.roundings import rounded

NAME = "plain-quantize"


def say(step: Step, context: Context) -> Iterator[Said]:
    storage = step.meaning.storage
    if step.meaning.kind != "quantize" or storage is None or not storage.integer or storage.bits > 16 or step.dtype is None:
        return
    value = phrases.quotient(step)
    zero = literal(0.0, dtypes.FLOAT) if step.zero_point is None else phrases.spread(cast(step.zero_point, dtypes.FLOAT), step)
    if value is None or zero is None:
        return
    yield Said(cast(phrases.ungrouped(_codes(value, zero, step, context.opset), step), step.dtype))


def _codes(value: Expr, zero: Expr, step: Step, opset: int) -> Expr:
    assert step.meaning.storage is not None
    shifted = binary("Add", rounded(value, step.meaning.rounding, opset), zero)
    return phrases.clip(shifted, step.meaning.storage.low, step.meaning.storage.high, opset)
