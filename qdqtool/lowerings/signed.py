"""Constant unsigned codes as signed ones: codes and zero point less half the range."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool import dtypes
from qdqtool.expressions import Computed, Expr, Step, is_const, known, literal
from qdqtool.lowerings import Context, Said

NAME = "signed"
SIGNED = {dtypes.UINT2: dtypes.INT2, dtypes.UINT4: dtypes.INT4, dtypes.UINT8: dtypes.INT8, dtypes.UINT16: dtypes.INT16}


def say(step: Step, context: Context) -> Iterator[Said]:
    storage = step.meaning.storage
    if (
        not context.bound
        or step.meaning.kind != "dequantize"
        or storage not in SIGNED
        or not is_const(step.x)
        or step.x.dtype is not storage
    ):
        return
    assert storage is not None
    signed, zero = SIGNED[storage], step.zero_point
    shape = known(step.scale.shape)
    if (zero is None and shape is None) or not (zero is None or is_const(zero)):
        return
    moved: Expr = literal(signed.low, signed, shape) if zero is None else Computed("recentre", (zero,), (signed,), signed, zero.shape)
    codes = Computed("recentre", (step.x,), (signed,), signed, step.x.shape)
    yield Said(replace(step, meaning=replace(step.meaning, storage=signed), x=codes, zero_point=moved))
