"""Quantize to float8 as a division and a saturating Cast, which is how float8 codes are defined.

The zero point's value is ignored, as ONNX Runtime and the reference do."""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool import dtypes, phrases
from qdqtool.expressions import Op, Step, cast
from qdqtool.lowerings import Context, Said

NAME = "float8-cast"


def say(step: Step, context: Context) -> Iterator[Said]:
    meaning = step.meaning
    if (
        meaning.kind != "quantize"
        or meaning.storage not in dtypes.FLOAT8
        or step.dtype is None
        or context.opset < 19
        or meaning.rounding != "half even"
    ):
        return
    assert meaning.storage is not None
    value = phrases.quotient(step)
    if value is None:
        return
    flat = phrases.ungrouped(value, step)
    attributes = (("saturate", int(meaning.saturate)), ("to", meaning.storage.code))
    codes = Op("Cast", (flat,), attributes if not meaning.saturate else attributes[1:], meaning.storage, step.shape)
    yield Said(cast(codes, step.dtype))
