"""Blocks that divide the dimension instead of a short last one: smaller blocks, each scale repeated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import gcd

from qdqtool.expressions import Expr, Step, known
from qdqtool.lowerings import Context, Said
from qdqtool.phrases import reblock
from qdqtool.quantization import Blocked

NAME = "even-blocks"


def say(step: Step, context: Context) -> Iterator[Said]:
    where, shape = step.meaning.granularity, known(step.x.shape)
    if not context.bound or not isinstance(where, Blocked) or shape is None or 0 in shape or not shape[where.axis] % where.block:
        return
    length = shape[where.axis]
    block = length if where.block >= length else gcd(length, where.block)

    def repeated(parameter: Expr) -> Expr:
        return reblock(parameter, where.axis, where.block, block, length // block)

    parameters = [p for p in (step.scale, step.zero_point) if p is not None]
    if any(known(p.shape) is None for p in parameters):
        return
    zero = None if step.zero_point is None else repeated(step.zero_point)
    meaning = replace(step.meaning, granularity=Blocked(where.axis, block))
    yield Said(replace(step, meaning=meaning, scale=repeated(step.scale), zero_point=zero))
