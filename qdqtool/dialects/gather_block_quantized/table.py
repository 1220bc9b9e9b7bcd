"""The table of a GatherBlockQuantized node, and the patterns that are a Gather from such a table."""

from __future__ import annotations

from dataclasses import dataclass, replace

from qdqtool import dtypes, packed
from qdqtool.expressions import Const, Expr, Op, Step, is_const, reshape
from qdqtool.quantization import Blocked

DOMAIN = "com.microsoft"

SIGN, FORM = "qdqtool.codes", "qdqtool.table"
"""Remarks in the metadata of nodes: codes were stored signed; a table of 4 bits was one of bytes."""

NATIVE = (dtypes.INT4, dtypes.UINT4, *dtypes.FLOAT8, dtypes.FLOAT4E2M1)
PACKED = (*packed.UNSIGNED.values(), *packed.SIGNED.values())


def integers(op: Op) -> dict[str, int]:
    """The attributes of a node, with their defaults."""
    given = {name: value for name, value in op.attributes if isinstance(value, int)}
    return {"bits": 4, "block_size": 128, "quantize_axis": 1, "gather_axis": 0} | given


def shaped(const: Const, shape: tuple[int, ...]) -> Const:
    """A constant in another shape."""
    found = reshape(const, shape)
    assert is_const(found)
    return found


def as_const(expr: Expr | None) -> Const:
    """`expr`, which is a constant."""
    assert is_const(expr)
    return expr


@dataclass(frozen=True, slots=True)
class Pattern:
    """A Gather from a dequantized table; or, in `parts`, the dequantize of codes, scales and zero points gathered one by one."""

    table: Step
    indices: Expr
    axis: int
    parts: bool = False


def pattern(expr: Expr) -> Pattern | None:
    """What `expr` gathers from a constant table, if it does."""
    match expr:
        case Op("Gather", (Step() as table, indices)) if indices is not None and is_const(table.x) and table.meaning.kind == "dequantize":
            return Pattern(table, indices, _axis(expr, table.x))
        case Step(said, Op("Gather", (_, indices))) if indices is not None and said.kind == "dequantize":
            return _of_parts(expr, indices)
    return None


def _axis(gather: Op, table: Const) -> int:
    axis = dict(gather.attributes).get("axis", 0)
    return axis % len(table.shape) if isinstance(axis, int) else 0


def _of_parts(step: Step, indices: Expr) -> Pattern | None:
    where, tables, axes = step.meaning.granularity, list[Const](), set[int]()
    for part in (step.x, step.scale, *([] if step.zero_point is None else [step.zero_point])):
        if not isinstance(part, Op) or part.op != "Gather" or part.inputs[1] != indices or not is_const(part.inputs[0]):
            return None
        tables.append(part.inputs[0])
        axes.add(_axis(part, part.inputs[0]))
    if not isinstance(where, Blocked) or indices.shape is None or len(axes) > 1:
        return None
    axis, rank = axes.pop(), len(indices.shape)
    if axis <= where.axis < axis + rank:
        return None
    own = where.axis if where.axis < axis else where.axis - rank + 1
    said = replace(step.meaning, granularity=Blocked(own, where.block))
    table = replace(step, meaning=said, x=tables[0], scale=tables[1], zero_point=(*tables, None)[2], shape=tables[0].shape)
    return Pattern(table, indices, axis, parts=True)
