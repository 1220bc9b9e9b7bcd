"""2- and 4-bit integers held in 8 bits: the same codes and zero points; a quantize is followed by a Clip to the narrow range.

Saturating twice equals saturating once to the narrower range, infinities included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool import dtypes, phrases
from qdqtool.expressions import Step, cast
from qdqtool.lowerings import Context, Said

NAME = "widen"


def say(step: Step, context: Context) -> Iterator[Said]:
    storage = step.meaning.storage
    if storage is None or not storage.integer or storage.bits >= 8 or step.dtype is None:
        return
    wide = dtypes.INT8 if storage.kind == "int" else dtypes.UINT8
    meaning = replace(step.meaning, storage=wide)
    zero = None if step.zero_point is None else cast(step.zero_point, wide)
    if step.meaning.kind == "dequantize":
        yield Said(replace(step, meaning=meaning, x=cast(step.x, wide), zero_point=zero))
        return
    codes = phrases.clip(replace(step, meaning=meaning, zero_point=zero, dtype=wide), storage.low, storage.high, context.opset)
    yield Said(cast(codes, step.dtype))
