"""Codes with their zero point taken off, as int32: int16 and uint16 where the target lacks them, per-axis zero points where it
knows scalars only. ``q - z`` of types up to 16 bits is exact in int32 and in float32."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool import dtypes, phrases
from qdqtool.expressions import Step
from qdqtool.lowerings import Context, Said

NAME = "int32-codes"


def say(step: Step, context: Context) -> Iterator[Said]:
    storage = step.meaning.storage
    if step.meaning.kind != "dequantize" or storage is None or not storage.integer or storage.bits > 32:
        return
    if storage is dtypes.INT32 and step.zero_point is None:
        return
    codes = phrases.centred(step)
    if codes is not None:
        yield Said(replace(step, meaning=replace(step.meaning, storage=dtypes.INT32), x=codes, zero_point=None))
