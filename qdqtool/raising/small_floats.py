"""Integers that are the values of small floats, scaled: ``n`` with scale ``s`` is ``n * 2**-k`` with scale ``s * 2**k``.

Bit-equal: the products are the same numbers, and integers have no -0. Only to fewer bits, and where the larger scale is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool import dtypes
from qdqtool.expressions import Computed, Expr, Step
from qdqtool.lowerings import Said
from qdqtool.raising import Context
from qdqtool.raising.pieces import constant, is_marker

NAME = "small-floats"

STORAGES = (dtypes.FLOAT4E2M1, dtypes.FLOAT6E2M3, dtypes.FLOAT6E3M2, *dtypes.FLOAT8)


def raised(expr: Expr, context: Context) -> Iterator[Said]:
    if not isinstance(expr, Step) or expr.meaning.kind != "dequantize" or expr.zero_point is not None or is_marker(expr.scale):
        return
    x, scale, held = constant(expr.x), constant(expr.scale), expr.meaning.storage
    if x is None or scale is None or held is None or not held.integer or expr.meaning.scale_type is not dtypes.FLOAT:
        return
    if len(x.shape) < 2 or 0 in x.shape or not context.free(x):
        return
    for storage in STORAGES:
        exponent = context.fact("small_float_exponent", x, storage) if storage.bits < held.bits else None
        if exponent is not None and context.fact("divides", scale, -exponent):
            codes = Computed("times", (x,), (-exponent, storage), storage, x.shape)
            larger = Computed("divide", (scale,), (-exponent,), dtypes.FLOAT, scale.shape) if exponent else scale
            yield Said(replace(expr, meaning=replace(expr.meaning, storage=storage), x=codes, scale=larger))
