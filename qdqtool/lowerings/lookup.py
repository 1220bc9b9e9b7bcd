"""Small-float constants by look-up: codes as uint8, a table of their values, then Mul by the scale.

Exact for every code, NaN and -0 included, from opset 7 on.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qdqtool import dtypes, phrases
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Computed, Expr, Literal, Op, Step, Stored, binary, cast, is_const, run_time_cast
from qdqtool.lowerings import Context, Said, without_effect

NAME = "lookup"


def say(step: Step, context: Context) -> Iterator[Said]:
    meaning, x = step.meaning, step.x
    if meaning.kind != "dequantize" or meaning.storage is None or not meaning.storage.small_float or meaning.expressed is None:
        return
    if not is_const(x) or x.dtype is not meaning.storage:
        return
    if not without_effect(step.zero_point, step, context):
        return
    values = phrases.grouped(_values(x, meaning.storage), step)
    scale = phrases.spread(cast(step.scale, dtypes.FLOAT), step)
    if values is not None and scale is not None:
        yield Said(cast(phrases.ungrouped(binary("Mul", values, scale), step), meaning.expressed))


def _values(x: Stored | Literal | Computed, storage: ElementType) -> Expr:
    codes = Computed("codes", (x,), (), dtypes.UINT8, x.shape)
    return Op("Gather", (_table(storage), run_time_cast(codes, dtypes.INT32)), (("axis", 0),), dtypes.FLOAT, x.shape)


def _table(storage: ElementType) -> Literal:
    codes = np.arange(1 << storage.bits, dtype=np.uint8)
    values = codes.view(storage.numpy).astype(np.float32)
    return Literal(values.tobytes(), dtypes.FLOAT, values.shape)
