"""A quantize and a Clip to the range of a narrower integer: a quantize to that.

Saturating twice equals saturating once to the narrower range.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool.expressions import Expr, Op, Step
from qdqtool.lowerings import Said
from qdqtool.raising import Context
from qdqtool.raising.pieces import as_type, bounds, constant, fits, operator, ranged

NAME = "clipped"


def raised(expr: Expr, context: Context) -> Iterator[Said]:
    clip = operator(expr, "Clip")
    step = None if clip is None else clip.inputs[0]
    if clip is None or not isinstance(step, Step) or step.meaning.kind != "quantize" or not clip.dtype.integer:
        return
    narrow, wide, zero = ranged(bounds(clip, context)), step.meaning.storage, constant(step.zero_point)
    if narrow is None or wide is None or wide.kind != narrow.kind or (zero is None and step.zero_point is not None):
        return
    if narrow.bits > wide.bits or (zero is not None and not fits(zero, narrow, context)):
        return
    codes = replace(
        step,
        meaning=replace(step.meaning, storage=narrow),
        zero_point=None if zero is None else as_type(zero, narrow),
        dtype=narrow,
    )
    yield Said(codes if narrow is wide else Op("Cast", (codes,), (("to", wide.code),), wide, clip.shape))
