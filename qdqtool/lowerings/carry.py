"""A quantize whose codes travel in a wider type: quantize as written, then a Cast to the carrier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool.expressions import Step, cast
from qdqtool.lowerings import Context, Said

NAME = "carry"


def say(step: Step, context: Context) -> Iterator[Said]:
    storage = step.meaning.storage
    if step.meaning.kind == "quantize" and storage is not None and step.dtype not in (None, storage):
        assert step.dtype is not None
        yield Said(cast(replace(step, dtype=storage), step.dtype))
