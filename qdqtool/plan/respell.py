"""A step that keeps its node and operands at the target, and only has attributes changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from onnx import NodeProto

from qdqtool.capabilities import Row, row_at
from qdqtool.expressions import Expr, Op
from qdqtool.plan.lift import Lifted
from qdqtool.plan.target import Target
from qdqtool.spelling import Operand, Spelling, read

Attributes = Mapping[str, int | None]

DEFAULTS = {"precision": 0, "output_dtype": 0, "saturate": 1, "block_size": 0}


def respelled(
    lifted: Lifted, node: NodeProto, expr: Expr, target: Target, objected: Callable[[Mapping[str, int]], int]
) -> tuple[tuple[str, int | None], ...] | None:
    """The attributes to change (None for one that goes) so that the node says `expr`; None when it cannot stay.

    `objected` tells how much the runtime has against attributes: no more than against those of `expr`.
    """
    if not isinstance(expr, Op) or not _same_operands(lifted, expr):
        return None
    row = row_at(lifted.source.dialect, lifted.source.kind, target.opset if lifted.source.domain == "" else lifted.source.version)
    if row is None:
        return None
    present = {a.name: a.i for a in node.attribute}
    drops: Attributes = {name: None for name in present if name not in row.attributes}
    decisive = {**drops, **_decisive(expr, present, row)}
    limit = objected({name: value for name, value in expr.attributes if isinstance(value, int)})
    for changes in (drops, decisive, {**decisive, **_axis(expr, present, row)}):
        after = {name: value for name, value in {**present, **changes}.items() if value is not None}
        if _means(lifted, row, present, changes) and _runs(lifted, row, present, changes, target) and objected(after) <= limit:
            return tuple(sorted(changes.items()))
    return None


def _runs(lifted: Lifted, row: Row, present: Mapping[str, int], changes: Attributes, target: Target) -> bool:
    left = [name for name in {**present, **changes} if changes.get(name, 0) is not None]
    return target.runs(row, lifted.step.meaning, left, zero_point=lifted.step.zero_point is not None)


def _same_operands(lifted: Lifted, expr: Op) -> bool:
    step, row = lifted.step, lifted.source
    operands = [e for e in (step.x, step.scale, step.zero_point) if e is not None]
    read_by = [e for e in expr.inputs if e is not None]
    return (expr.op, expr.domain) == (row.op, row.domain) and len(read_by) == len(operands) and all(e in read_by for e in operands)


def _decisive(expr: Op, present: Mapping[str, int], row: Row) -> Attributes:
    """Attributes other than the axis as the new form has them, where the node's differ."""
    written = {name: value for name, value in expr.attributes if isinstance(value, int)}
    known = {name: default for name, default in DEFAULTS.items() if name in row.attributes}
    return {name: written.get(name) for name, default in known.items() if written.get(name, default) != present.get(name, default)}


def _axis(expr: Op, present: Mapping[str, int], row: Row) -> Attributes:
    """The axis written out."""
    name = row.theirs("axis")
    written = dict(expr.attributes).get(name)
    return {name: written} if isinstance(written, int) and name not in present else {}


def _means(lifted: Lifted, row: Row, present: Mapping[str, int], changes: Attributes) -> bool:
    after = {row.ours(k): v for k, v in {**present, **changes}.items() if v is not None}
    x, scale = (Operand(e.dtype, e.shape) for e in (lifted.step.x, lifted.step.scale))
    zero = lifted.step.zero_point
    return read(Spelling(after, x, scale, None if zero is None else Operand(zero.dtype, zero.shape)), row) == lifted.step.meaning
