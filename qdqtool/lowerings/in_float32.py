"""Scales and real values in float32, with Casts at the edges: for targets without float16, bfloat16 or e8m0 scales, without
``output_dtype`` and ``precision``, and for int32 inputs.

Dequantize multiplies in float32 and rounds once whatever the types, so both are exact. For a quantize the
casts are exact only if the division happens in float32.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool import dtypes
from qdqtool.expressions import Expr, Step, cast
from qdqtool.lowerings import Context, Said
from qdqtool.quantization import Meaning

NAME = "in-float32"


def say(step: Step, context: Context) -> Iterator[Said]:
    meaning = step.meaning
    if None in (meaning.scale_type, meaning.expressed) or (meaning.scale_type is dtypes.FLOAT and meaning.expressed is dtypes.FLOAT):
        return
    if meaning.kind == "quantize" and meaning.compute is not dtypes.FLOAT:
        return
    wider = replace(meaning, scale_type=dtypes.FLOAT, expressed=dtypes.FLOAT)
    yield Said(_quantize(step, wider) if meaning.kind == "quantize" else _dequantize(step, wider))


def _quantize(step: Step, meaning: Meaning) -> Expr:
    return replace(step, meaning=meaning, x=cast(step.x, dtypes.FLOAT), scale=cast(step.scale, dtypes.FLOAT))


def _dequantize(step: Step, meaning: Meaning) -> Expr:
    assert step.meaning.expressed is not None
    return cast(replace(step, meaning=meaning, scale=cast(step.scale, dtypes.FLOAT), dtype=dtypes.FLOAT), step.meaning.expressed)
