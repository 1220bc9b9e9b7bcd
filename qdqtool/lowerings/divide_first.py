"""Quantize after an explicit division: for granularities, input types and division precisions the target lacks.

``Div`` in float32 (rounded to the compute type by a pair of Casts), then a quantize by 1: ``v / 1`` is ``v``, so rounding, zero
point and saturation act on the same quotient. The zero point must be one value.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool import dtypes, phrases
from qdqtool.expressions import Computed, Expr, Step, is_const, literal
from qdqtool.lowerings import Context, Said
from qdqtool.quantization import Meaning, PerTensor

NAME = "divide-first"


def say(step: Step, context: Context) -> Iterator[Said]:
    meaning = step.meaning
    if meaning.kind != "quantize" or meaning.storage is None or step.dtype is None or _is_unit(step):
        return
    value = phrases.quotient(step)
    zero = uniform_zero_point(step, context)
    if value is None or zero is MIXED:
        return
    value = phrases.ungrouped(value, step)
    unit = Meaning("quantize", meaning.storage, dtypes.FLOAT, dtypes.FLOAT, PerTensor(), dtypes.FLOAT, meaning.saturate, meaning.rounding)
    yield Said(Step(unit, value, literal(1.0, dtypes.FLOAT), zero, step.dtype, step.shape))  # type: ignore[arg-type]


MIXED = object()


def _is_unit(step: Step) -> bool:
    return phrases.is_one(step.scale) and step.x.dtype is dtypes.FLOAT


def uniform_zero_point(step: Step, context: Context) -> Expr | object | None:
    """The one zero point of all elements as a scalar, None for none, MIXED where it is not one or not known to be."""
    zero = step.zero_point
    if zero is None or zero.shape == ():
        return zero
    if is_const(zero) and 0 not in zero.shape:
        if not all(context.fact("equal_along", zero, axis) for axis in range(len(zero.shape))):
            return MIXED
        return Computed("first", (zero,), (tuple(range(len(zero.shape))), ()), zero.dtype, ())
    return phrases.scalar(zero) if isinstance(step.meaning.granularity, PerTensor) and zero.shape is not None else MIXED
