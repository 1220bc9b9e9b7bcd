"""Dequantize with scale 1, then multiply by the scales: for granularities the target lacks.

``float32(q - z) * 1`` is ``float32(q - z)``, so the product is the one dequantize makes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool import dtypes, phrases
from qdqtool.expressions import Step, binary, literal
from qdqtool.lowerings import Context, Said
from qdqtool.quantization import Blocked, PerAxis, PerTensor

NAME = "unit-scale"


def say(step: Step, context: Context) -> Iterator[Said]:
    meaning = step.meaning
    if meaning.kind != "dequantize" or meaning.storage is None or not meaning.storage.integer:
        return
    if not isinstance(meaning.granularity, PerAxis | Blocked) or not meaning.scale_type is meaning.expressed is dtypes.FLOAT:
        return
    scale = phrases.spread(step.scale, step)
    plain = step.zero_point is None and step.x.dtype is meaning.storage
    codes = step.x if plain else phrases.centred(step)
    values = None if codes is None else phrases.grouped(codes, step)
    if scale is None or values is None:
        return
    unit = replace(meaning, granularity=PerTensor(), storage=meaning.storage if plain else dtypes.INT32)
    inner = Step(unit, values, literal(1.0, dtypes.FLOAT), None, dtypes.FLOAT, values.shape)
    yield Said(phrases.ungrouped(binary("Mul", inner, scale), step))
