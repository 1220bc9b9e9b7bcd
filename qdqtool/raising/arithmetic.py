"""Cast, Sub, Mul to dequantize; also a dequantize by 1 and a Mul.

Both sides compute ``float(q - z) * s`` with one rounding as long as q and z are exact in the type of the arithmetic: up to 16 bits
in float32, 8 bits in float16 and bfloat16, 32 bits without a zero point. Codes are constants, or come from a quantize step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool import dtypes
from qdqtool.expressions import Computed, Expr, Op, Step, is_const
from qdqtool.lowerings import Said
from qdqtool.raising import UNITS, Context
from qdqtool.raising.pieces import as_type, constant, fits, is_unit, own_parts, plain_codes, spread_part, with_parameters

NAME = "arithmetic"

_SMALL = (*dtypes.FLOAT8, dtypes.FLOAT4E2M1, dtypes.FLOAT6E2M3, dtypes.FLOAT6E3M2)


def raised(expr: Expr, context: Context) -> Iterator[Said]:
    step: Step | None = None
    if isinstance(expr, Op) and not expr.domain and expr.op in ("Cast", "Sub", "Mul"):
        step = {"Cast": _cast, "Sub": _sub, "Mul": _mul}[expr.op](expr, context)
    elif isinstance(expr, Computed) and expr.kernel == "onnx_cast":
        step = _codes(expr.args[0], expr)
    if step is not None:
        yield Said(step)


def _cast(op: Op, context: Context) -> Step | None:
    inner = op.inputs[0]
    return _codes(inner, op) if inner is not None and _are_codes(inner) else None


def _codes(q: Expr, whole: Expr) -> Step | None:
    """Codes as numbers."""
    if whole.dtype not in UNITS or q.dtype is None:
        return None
    limit = 32 if whole.dtype is dtypes.FLOAT else 8
    exact = q.dtype in _SMALL or (q.dtype.integer and q.dtype.bits <= limit and q.dtype is not dtypes.UINT32)
    return plain_codes(q, whole.dtype) if exact else None


def _are_codes(x: Expr) -> bool:
    """Constants or codes of a quantize step, as it gives them, moved, cast, clipped, or less a constant."""
    while isinstance(x, Op) and (x.op in ("Cast", "Clip", "Reshape", "Transpose") or _is_difference(x)) and x.inputs[0] is not None:
        x = x.inputs[0]
    return is_const(x) or (isinstance(x, Step) and x.meaning.kind == "quantize")


def _is_difference(op: Op) -> bool:
    return op.op == "Sub" and op.dtype is dtypes.INT32 and is_const(op.inputs[1])


def _sub(op: Op, context: Context) -> Step | None:
    step, zero = op.inputs[0], constant(op.inputs[1])
    if not isinstance(step, Step) or zero is None or not _is_codes(step, context) or step.zero_point is not None:
        return None
    storage, scale, part = step.meaning.storage, own_parts(step), spread_part(zero, step)
    if storage is None or not storage.integer or scale is None or part is None:
        return None
    if context.fact("value_range", zero) == (0, 0):
        return step
    if storage.bits > 16 or not fits(zero, storage, context):
        return None
    return with_parameters(step, scale[0], replace(part, const=as_type(zero, storage)))


def _mul(op: Op, context: Context) -> Step | None:
    for step, scale in (op.inputs, op.inputs[::-1]):
        const = constant(scale)
        if isinstance(step, Step) and const is not None and const.dtype is step.meaning.expressed and _is_codes(step, context):
            part, rest = spread_part(const, step), own_parts(step, scale=False)
            if part is not None and rest is not None:
                return with_parameters(step, part, rest[0] if rest else None)
    return None


def _is_codes(step: Step, context: Context) -> bool:
    """A dequantize by 1 without a rounding of its own."""
    meaning = step.meaning
    if meaning.kind != "dequantize" or meaning.expressed is not meaning.scale_type or not is_unit(step.scale, context):
        return False
    return meaning.storage is not None and (meaning.expressed is dtypes.FLOAT or meaning.storage.bits <= 8)
