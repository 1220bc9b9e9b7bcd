"""Quantize to float8, float6 or float4 with the codes carried as float32 values, from opset 9 on.

The quotient is clipped to the type's range, then rounded to its grid: large values by a Veltkamp split, those below the least
normal number by a magic number. Value-equal: only the sign of zero can differ. Saturating quantization only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes

from qdqtool import dtypes, phrases
from qdqtool.dtypes import ElementType
from qdqtool.exactness import Exactness
from qdqtool.expressions import Expr, Op, Step, binary, literal
from qdqtool.lowerings import Context, Said, without_effect

NAME = "float-grid"


def say(step: Step, context: Context) -> Iterator[Said]:
    meaning = step.meaning
    if meaning.kind != "quantize" or meaning.storage is None or not meaning.storage.small_float:
        return
    if (
        step.dtype is not dtypes.FLOAT
        or meaning.rounding != "half even"
        or not meaning.saturate
        or not without_effect(step.zero_point, step, context)
    ):
        return
    value = phrases.quotient(step)
    if value is not None:
        yield Said(phrases.ungrouped(_rounded(value, meaning.storage, context.opset), step), Exactness.VALUE_EQUAL)


def grid(storage: ElementType) -> tuple[int, int]:
    """Stored mantissa bits and the exponent of the least normal number."""
    finfo: Any = ml_dtypes.finfo
    info = finfo(storage.numpy)
    return int(info.nmant), int(info.minexp)


def _rounded(value: Expr, storage: ElementType, opset: int) -> Expr:
    mantissa, exponent = grid(storage)
    clipped = phrases.clip(value, storage.low, storage.high, opset)
    split = binary("Mul", clipped, literal(2.0 ** (23 - mantissa) + 1, dtypes.FLOAT))
    large = binary("Sub", split, binary("Sub", split, clipped))
    magic = literal(1.5 * 2.0 ** (23 + exponent - mantissa), dtypes.FLOAT)
    small = binary("Sub", binary("Add", clipped, magic), magic)
    size = Op("Abs", (clipped,), (), dtypes.FLOAT, clipped.shape)
    is_small = Op("Less", (size, literal(2.0**exponent, dtypes.FLOAT)), (), dtypes.BOOL, clipped.shape)
    return Op("Where", (is_small, small, large), (), dtypes.FLOAT, clipped.shape)
