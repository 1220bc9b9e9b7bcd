"""A bias as the real values that its codes stand for: for runtimes that do not take its codes. One for each output channel, it is small."""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.expressions import Computed, Step, is_const
from qdqtool.lowerings import Context, Said

NAME = "float-bias"


def say(step: Step, context: Context) -> Iterator[Said]:
    operands = [e for e in (step.x, step.scale, step.zero_point) if e is not None]
    if not context.bias or step.meaning.kind != "dequantize" or not all(is_const(e) for e in operands):
        return
    assert step.meaning.expressed is not None
    assert is_const(step.x)
    consts = tuple(e for e in operands if is_const(e))
    yield Said(Computed("dequantize", consts, (step.meaning.granularity, step.meaning.expressed), step.meaning.expressed, step.x.shape))
