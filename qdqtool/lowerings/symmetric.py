"""Constant codes with their zero point taken off, in the narrowest type that holds the differences: for symmetric runtimes.

A bias may become int32, as integer kernels add it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool import dtypes, phrases
from qdqtool.expressions import Computed, Step, is_const
from qdqtool.lowerings import Context, Said

NAME = "symmetric"
WIDER = (dtypes.INT4, dtypes.INT8, dtypes.INT16)


def say(step: Step, context: Context) -> Iterator[Said]:
    storage = step.meaning.storage
    if not context.bound or step.meaning.kind != "dequantize" or storage is None or not storage.integer or storage.bits > 16:
        return
    if step.zero_point is None and storage.kind == "int":
        return
    codes = phrases.centred(step) if is_const(step.x) and step.x.dtype is storage else None
    if not is_const(codes):
        return
    low, high = context.fact("value_range", codes)
    for narrow in (*WIDER, dtypes.INT32) if context.bias else WIDER:
        if narrow.low <= low and high <= narrow.high and narrow.bits >= min(storage.bits, 8):
            fitted = Computed("cast", (codes,), (narrow,), narrow, codes.shape)
            yield Said(replace(step, meaning=replace(step.meaning, storage=narrow), x=fitted, zero_point=None))
            return
