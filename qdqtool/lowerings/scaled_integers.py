"""float4, float6 and float8 constants as integers: every code is ``n * 2**-k`` with an integer n, so the codes become n and the
scale ``scale * 2**-k``.

Only without NaN and infinity among the codes, and where the smaller scale is still exact in float32. Codes of -0 become +0:
bit-equal without them, value-equal with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.exactness import Exactness
from qdqtool.expressions import Computed, Step, cast, is_const
from qdqtool.lowerings import Context, Said, without_effect

NAME = "scaled-integers"


def say(step: Step, context: Context) -> Iterator[Said]:
    meaning, x, scale = step.meaning, step.x, step.scale
    if meaning.kind != "dequantize" or meaning.storage is None or not meaning.storage.small_float or meaning.expressed is None:
        return
    if not is_const(x) or not is_const(scale) or x.dtype is not meaning.storage:
        return
    if not without_effect(step.zero_point, step, context):
        return
    codes = context.fact("float_codes", x)
    if not codes.finite:
        return
    exponent, storage = codes.exponent, _holding(codes.largest_integer)
    wide = cast(scale, dtypes.FLOAT)
    assert is_const(wide)
    if storage is None or not context.fact("divides", wide, exponent):
        return
    smaller = Computed("divide", (wide,), (exponent,), dtypes.FLOAT, wide.shape) if exponent else wide
    integers = Computed("times", (x,), (exponent, storage), storage, x.shape)
    changed = replace(meaning, storage=storage, scale_type=dtypes.FLOAT, expressed=dtypes.FLOAT)
    inner = replace(step, meaning=changed, x=integers, scale=smaller, zero_point=None, dtype=dtypes.FLOAT)
    yield Said(cast(inner, meaning.expressed), Exactness.VALUE_EQUAL if codes.negative_zero else Exactness.BIT_EQUAL)


def _holding(largest: int) -> ElementType | None:
    return next((t for t in (dtypes.INT8, dtypes.INT16, dtypes.INT32) if largest <= t.high), None)
