"""Constant codes held in a wider integer type than they need: int4 in int8, int16 and uint16 in int32.

The same codes and zero points, so the same differences. int32 codes without a zero point may also get one. Vectors and scalars
stay: biases are int32 by convention, and few codes fit a narrow type by chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Computed, Const, Expr, Step, literal
from qdqtool.lowerings import Said
from qdqtool.raising import Context
from qdqtool.raising.pieces import as_type, constant, fits

NAME = "narrow"

SIGNED = (dtypes.INT2, dtypes.INT4, dtypes.INT8, dtypes.INT16)
UNSIGNED = (dtypes.UINT2, dtypes.UINT4, dtypes.UINT8, dtypes.UINT16)


def raised(expr: Expr, context: Context) -> Iterator[Said]:
    if not isinstance(expr, Step) or expr.meaning.kind != "dequantize":
        return
    x, storage = constant(expr.x), expr.meaning.storage
    if x is None or storage is None or not storage.integer or storage.packed or len(x.shape) < 2 or 0 in x.shape or not context.free(x):
        return
    zero = constant(expr.zero_point)
    if zero is None and expr.zero_point is not None:
        return
    for narrow in _narrower(storage):
        if fits(x, narrow, context) and (zero is None or fits(zero, narrow, context)):
            yield Said(_stored(expr, narrow, as_type(x, narrow), None if zero is None else as_type(zero, narrow)))
    if storage is dtypes.INT32 and zero is None:
        yield from _shifted(expr, x, context)


def _narrower(storage: ElementType) -> list[ElementType]:
    family = SIGNED if storage.kind == "int" else UNSIGNED
    return [t for t in family if t.bits < storage.bits]


def _stored(step: Step, storage: ElementType, x: Const, zero: Const | None) -> Step:
    return replace(step, meaning=replace(step.meaning, storage=storage), x=x, zero_point=zero)


def _shifted(step: Step, x: Const, context: Context) -> Iterator[Said]:
    """Unsigned codes around one zero point."""
    low, high = context.fact("value_range", x)
    scale = constant(step.scale)
    lowest = int(min(low, 0))
    for storage in UNSIGNED:
        if scale is not None and high - lowest <= storage.high and -lowest <= storage.high:
            offset = literal(lowest, dtypes.INT32, ())
            moved = Computed("subtract", (x, offset), (None,), dtypes.INT32, x.shape)
            zero: Const | None = literal(-lowest, storage, ())
            if scale.shape != () and zero is not None:
                zero = Computed("expand", (zero,), (scale.shape,), storage, scale.shape)
            yield Said(_stored(step, storage, as_type(moved, storage), zero if lowest else None))
