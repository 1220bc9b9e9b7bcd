"""float16 and bfloat16 values behind a float32 dequantize or before a float32 quantize, drawn into the step.

Dequantize rounds once whatever the types, so the product in float32 and the Cast are that rounding. A quantize is the same only
if it goes on dividing in float32. The scale is stored in the narrow type too where it holds it exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Expr, Step
from qdqtool.lowerings import Said
from qdqtool.raising import Context
from qdqtool.raising.pieces import as_type, constant, is_marker, operator

NAME = "halves"

HALVES = (dtypes.FLOAT16, dtypes.BFLOAT16)


def raised(expr: Expr, context: Context) -> Iterator[Said]:
    cast = operator(expr, "Cast")
    if cast is not None and cast.dtype in HALVES and isinstance(cast.inputs[0], Step):
        inner = cast.inputs[0]
        if inner.meaning.kind == "dequantize" and _in_float32(inner):
            yield from _forms(replace(inner, dtype=cast.dtype), cast.dtype, context)
    elif isinstance(expr, Step) and expr.meaning.kind == "quantize" and _in_float32(expr) and expr.meaning.compute is dtypes.FLOAT:
        wide = operator(expr.x, "Cast")
        x = None if wide is None else wide.inputs[0]
        if x is not None and x.dtype in HALVES:
            assert x.dtype is not None
            yield from _forms(replace(expr, x=x), x.dtype, context)


def _in_float32(step: Step) -> bool:
    return step.meaning.expressed is dtypes.FLOAT and step.meaning.scale_type is dtypes.FLOAT and not is_marker(step.scale)


def _forms(step: Step, half: ElementType, context: Context) -> Iterator[Said]:
    narrow = replace(step, meaning=replace(step.meaning, expressed=half))
    yield Said(narrow)
    scale = constant(step.scale)
    if scale is not None and context.fact("held_in", scale, half):
        yield Said(replace(narrow, meaning=replace(narrow.meaning, scale_type=half), scale=as_type(scale, half)))
