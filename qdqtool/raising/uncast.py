"""A dequantize of codes that were cast to a wider integer first, with or without a zero point taken off in int32."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Computed, Expr, Op, Step, is_const
from qdqtool.lowerings import Said
from qdqtool.raising import Context
from qdqtool.raising.pieces import as_type, constant, fits, is_marker, operator, own_parts, spread_part, with_parameters

NAME = "uncast"

MOVERS = ("Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten")


def raised(expr: Expr, context: Context) -> Iterator[Said]:
    step: Step | None = None
    if isinstance(expr, Step) and expr.meaning.kind == "dequantize" and not is_const(expr.x):
        difference = operator(expr.x, "Sub")
        step = _wide(expr, context) if difference is None else _centred(expr, difference, context)
    elif isinstance(expr, Op) and expr.op == "Cast" and expr.dtype.integer:
        codes = _numbers(expr.inputs[0], expr.dtype)
        if codes is not None:
            yield Said(codes)
    if step is not None:
        yield Said(step)


def _numbers(step: Expr | None, to: ElementType) -> Expr | None:
    """Codes cast to float and back."""
    if not isinstance(step, Step) or step.meaning.kind != "dequantize" or step.zero_point is not None:
        return None
    held = step.x.dtype
    if step.meaning.expressed is not dtypes.FLOAT or held is None or not held.integer or not is_held(held, to) or is_const(step.x):
        return None
    if not is_marker(step.scale):
        return None
    return step.x if held is to else Op("Cast", (step.x,), (("to", to.code),), to, step.shape)


def is_held(narrow: ElementType, wide: ElementType) -> bool:
    """Every code of one integer type is a code of the other."""
    return wide.low <= narrow.low and narrow.high <= wide.high


def _wide(step: Step, context: Context) -> Step | None:
    codes, zero = uncast(step.x), constant(step.zero_point)
    if codes is None or codes.dtype is None or (zero is None and step.zero_point is not None):
        return None
    if zero is not None and not fits(zero, codes.dtype, context):
        return None
    narrowed = None if zero is None else as_type(zero, codes.dtype)
    return replace(step, meaning=replace(step.meaning, storage=codes.dtype), x=codes, zero_point=narrowed)


def uncast(x: Expr) -> Expr | None:
    """Codes before a Cast to a wider integer, moved as they are after it."""
    if isinstance(x, Computed) and x.kernel == "onnx_cast":
        return x.args[0] if x.args[0].dtype.integer and is_held(x.args[0].dtype, x.dtype) else None
    if not isinstance(x, Op) or x.domain or x.inputs[0] is None:
        return None
    inner = x.inputs[0]
    if x.op == "Cast":
        fine = inner.dtype is not None and inner.dtype.integer and x.dtype.integer and is_held(inner.dtype, x.dtype)
        return inner if fine else None
    codes = uncast(inner) if x.op in MOVERS else None
    return None if codes is None or codes.dtype is None else replace(x, inputs=(codes, *x.inputs[1:]), dtype=codes.dtype)


def _centred(step: Step, difference: Op, context: Context) -> Step | None:
    """``q - z`` in int32."""
    codes, zero = uncast(difference.inputs[0]) if difference.inputs[0] else None, constant(difference.inputs[1])
    if step.meaning.storage is not dtypes.INT32 or step.zero_point is not None or codes is None or zero is None or codes.dtype is None:
        return None
    if zero.shape != () and codes.shape != step.shape:
        # Zero points of a higher rank make the result larger than the codes.
        return None
    parts, part = own_parts(step), spread_part(zero, step)
    if parts is None or part is None or not fits(zero, codes.dtype, context):
        return None
    narrow = replace(step, meaning=replace(step.meaning, storage=codes.dtype), x=codes)
    return with_parameters(narrow, parts[0], replace(part, const=as_type(zero, codes.dtype)))
