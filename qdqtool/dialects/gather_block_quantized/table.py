"""The table of a GatherBlockQuantized node, and the patterns that are a Gather from such a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from qdqtool import dtypes, packed
from qdqtool.expressions import Const, Expr, Op, Step, is_const
from qdqtool.quantization import Blocked

DOMAIN = "com.microsoft"

SIGN, FORM = "qdqtool.codes", "qdqtool.table"
"""Remarks in the metadata of nodes: codes were stored signed; a table of 4 bits was one of bytes."""

NATIVE = (dtypes.INT4, dtypes.UINT4, *dtypes.FLOAT8, dtypes.FLOAT4E2M1)
PACKED = (*packed.UNSIGNED.values(), *packed.SIGNED.values())


NUMBERS = {"bits": 4, "block_size": 128, "quantize_axis": 1, "gather_axis": 0}
"""Attributes and their defaults."""


def integers(op: Op) -> dict[str, int]:
    """The attributes of a node, with their defaults."""
    given = {name: value for name, value in op.attributes if isinstance(value, int)}
    return NUMBERS | given


def misfit(op: Op, data: Const, scale: Const, zero: Const | None) -> tuple[str, ...]:
    """Why these constants are no table of the operator; nothing where they are."""
    attributes, rank = integers(op), len(data.shape)
    odd = [name for name, value in op.attributes if name in NUMBERS and not isinstance(value, int)]
    odd += [name for name in ("quantize_axis", "gather_axis") if not -rank <= attributes[name] < rank]
    odd += ["block_size"] if attributes["block_size"] < 0 else []
    if odd:
        return (f"its {odd[0]} is out of range",)
    if data.dtype not in (dtypes.UINT8, *NATIVE) or scale.dtype not in packed.BOUNDS or (zero is not None and zero.dtype is not data.dtype):
        types = " and ".join(str(const.dtype) for const in (data, scale, zero) if const is not None)
        return (f"GatherBlockQuantized has no tables of {types}",)
    bits, axis = attributes["bits"], attributes["quantize_axis"] % rank
    if data.dtype is dtypes.UINT8 and (bits not in packed.UNSIGNED or axis != rank - 1):
        return (f"GatherBlockQuantized has no tables of {bits} bits in blocks along axis {axis}",)
    return _misshapen(attributes, data, {"scales": scale} if zero is None else {"scales": scale, "zero points": zero})


def _misshapen(attributes: Mapping[str, int], data: Const, parameters: Mapping[str, Const]) -> tuple[str, ...]:
    packed_by = 8 // attributes["bits"] if data.dtype is dtypes.UINT8 else 1
    sizes = list(data.shape)
    sizes[-1] *= packed_by
    axis = attributes["quantize_axis"] % len(sizes)
    sizes[axis] = -(-sizes[axis] // (attributes["block_size"] or max(1, sizes[axis])))
    wanted = {"scales": sizes, "zero points": [*sizes[:-1], -(-sizes[-1] // packed_by)]}
    return tuple(
        f"its {what} have the shape {list(const.shape)}, not {wanted[what]}"
        for what, const in parameters.items()
        if list(const.shape) != wanted[what]
    )


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
