"""Blocks as rows: codes reshaped to ``[rows, block]``, one scale a row, then shaped back.

Blocks along the last axis cost one Reshape; along another axis the codes are stored transposed and a Transpose follows.
A ragged last block is padded and sliced off, or avoided by smaller blocks (scales repeated): both are offered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import gcd, prod

from qdqtool.expressions import Computed, Expr, Op, Step, is_const, known, reshape
from qdqtool.lowerings import Context, Said
from qdqtool.phrases import cut, reblock
from qdqtool.quantization import Blocked, PerAxis

NAME = "rows-per-block"


@dataclass(frozen=True, slots=True)
class _Layout:
    shape: tuple[int, ...]
    axis: int
    block: int

    @property
    def length(self) -> int:
        return self.shape[self.axis]

    @property
    def count(self) -> int:
        return -(-self.length // self.block)

    @property
    def pre(self) -> tuple[int, ...]:
        return self.shape[: self.axis]

    @property
    def post(self) -> tuple[int, ...]:
        return self.shape[self.axis + 1 :]

    @property
    def last(self) -> bool:
        return prod(self.post) == 1

    @property
    def rows(self) -> int:
        return prod(self.pre) * prod(self.post) * self.count


def say(step: Step, context: Context) -> Iterator[Said]:
    where, shape = step.meaning.granularity, known(step.x.shape)
    parameters = [p for p in (step.scale, step.zero_point) if p is not None]
    if (
        not isinstance(where, Blocked)
        or shape is None
        or 0 in shape
        or any(known(p.shape) is None for p in parameters)
        or step.x.dtype is None
    ):
        return
    block = min(where.block, shape[where.axis])
    for layout in _layouts(step, shape, where, block):
        yield Said(_said(step, layout, where, context.opset))


def _layouts(step: Step, shape: tuple[int, ...], where: Blocked, block: int) -> Iterator[_Layout]:
    even = gcd(shape[where.axis], block)
    yield _Layout(shape, where.axis, even)
    if even != block and is_const(step.x):
        yield _Layout(shape, where.axis, block)


def _said(step: Step, layout: _Layout, where: Blocked, opset: int) -> Expr:
    scale = _parameter(step.scale, layout, where)
    zero = None if step.zero_point is None else _parameter(step.zero_point, layout, where)
    x = _rows(step.x, layout)
    meaning = replace(step.meaning, granularity=PerAxis(0))
    return _back(replace(step, meaning=meaning, x=x, scale=scale, zero_point=zero, shape=(layout.rows, layout.block)), layout, opset)


def _parameter(parameter: Expr, layout: _Layout, where: Blocked) -> Expr:
    """One value a row: ``[pre, count, post]`` becomes ``[pre * post * count]``."""
    if parameter.shape is not None and parameter.shape[layout.axis] != layout.count:
        parameter = reblock(parameter, layout.axis, min(where.block, layout.length), layout.block, layout.count)
    if not layout.last:
        parameter = _moved(parameter, layout)
    return reshape(parameter, (layout.rows,))


def _moved(x: Expr, layout: _Layout) -> Expr:
    """The blocked axis moved to the end."""
    rank = len(layout.shape)
    perm = (*(d for d in range(rank) if d != layout.axis), layout.axis)
    shape = known(x.shape)
    assert shape is not None
    assert x.dtype is not None
    moved = tuple(shape[p] for p in perm)
    if is_const(x):
        return Computed("transpose", (x,), (perm,), x.dtype, moved)
    return Op("Transpose", (x,), (("perm", perm),), x.dtype, moved)


def _rows(x: Expr, layout: _Layout) -> Expr:
    if is_const(x):
        params = (prod(layout.pre), layout.length, prod(layout.post), layout.block)
        return Computed("regroup", (x,), params, x.dtype, (layout.rows, layout.block))
    return reshape(x if layout.last else _moved(x, layout), (layout.rows, layout.block))


def _back(rows: Expr, layout: _Layout, opset: int) -> Expr:
    moved = (*layout.pre, *layout.post, layout.length)
    padded = (*moved[:-1], layout.count * layout.block)
    whole = reshape(rows, layout.shape) if layout.last and padded == moved else reshape(rows, padded)
    if padded != moved:
        whole = cut(whole, layout.length, opset)
    if layout.last:
        return reshape(whole, layout.shape)
    rank = len(layout.shape)
    perm = (*range(layout.axis), rank - 1, *range(layout.axis, rank - 1))
    assert whole.dtype is not None
    return Op("Transpose", (whole,), (("perm", perm),), whole.dtype, layout.shape)
