"""A GatherBlockQuantized node as a Gather from a dequantized table, or as the dequantize of gathered codes."""

from __future__ import annotations

from dataclasses import replace

from qdqtool import dtypes, packed, repeated
from qdqtool.dialects import Asking, Impossible, Saying, Way
from qdqtool.dialects.gather_block_quantized.table import FORM, NATIVE, SIGN, integers, misfit
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Const, Expr, Op, Step, is_const, literal
from qdqtool.packed import shaped
from qdqtool.quantization import Blocked, Meaning


def split(op: Op, asking: Asking) -> Saying | Impossible:
    table, indices = _table(op, asking), (*op.inputs, None, None)[1]
    if isinstance(table, Impossible) or indices is None:
        return table if isinstance(table, Impossible) else Impossible(("it has no indices",))
    axis = integers(op)["gather_axis"] % len(table.shape or ())
    whole = Op("Gather", (table, indices), (("axis", axis),), op.dtype, op.shape)
    parts = gathered(table, indices, axis) if table.meaning.storage in (dtypes.INT8, dtypes.UINT8) else None
    remarks = (SIGN, None), (FORM, _form(op, table)), (repeated.SCALES, None)
    return Saying((Way(whole), *(() if parts is None else (Way(parts),))), table.meaning, remarks)


def _table(op: Op, asking: Asking) -> Step | Impossible:
    attributes, (data, _, scale, zero) = integers(op), (*op.inputs, *(None,) * 4)[:4]
    if not (is_const(data) and is_const(scale) and (zero is None or is_const(zero))):
        return Impossible(("its table, scales or zero points are not constant here",))
    wrong = misfit(op, data, scale, zero)
    if wrong:
        return Impossible(wrong)
    if data.dtype is dtypes.UINT8:
        bits = attributes["bits"]
        storage = _storage(bits, zero, asking)
        zero = _zeros(zero, scale.shape, storage, asking)
        data = _unpacked(data, data.shape[-1] * 8 // bits, storage)
    axis = attributes["quantize_axis"] % len(data.shape)
    said = Meaning("dequantize", data.dtype, scale.dtype, scale.dtype, Blocked(axis, attributes["block_size"] or data.shape[axis]))
    return repeated.once(Step(said, data, scale, zero, scale.dtype, data.shape), asking)


def _storage(bits: int, zero: Const | None, asking: Asking) -> ElementType:
    sign = asking.sign or asking.remark(SIGN) or ("signed" if zero is None else "unsigned")
    return (packed.SIGNED if sign == "signed" else packed.UNSIGNED)[bits]


def _unpacked(rows: Const, length: int, storage: ElementType) -> Const:
    return shaped(packed.unpacked(packed.as_rows(rows), length, storage), (*rows.shape[:-1], length))


def _zeros(zero: Const | None, shape: tuple[int, ...], storage: ElementType, asking: Asking) -> Const | None:
    """None where they are 0."""
    if zero is None:
        return packed.repeated(literal(packed.middle(storage), storage), shape) if packed.middle(storage) else None
    found = _unpacked(zero, shape[-1], storage)
    return None if asking.fact("value_range", found) == (0.0, 0.0) else found


def gathered(table: Step, indices: Expr, axis: int) -> Step | None:
    """The dequantize of gathered codes and parameters, which is less work than that of the whole table."""
    where, shape = table.meaning.granularity, table.shape
    if not isinstance(where, Blocked) or indices.shape is None or shape is None or where.axis == axis:
        return None
    moved = where.axis + (len(indices.shape) - 1 if where.axis > axis else 0)
    zero = None if table.zero_point is None else _picked(table.zero_point, indices, axis)
    x, scale = _picked(table.x, indices, axis), _picked(table.scale, indices, axis)
    return Step(replace(table.meaning, granularity=Blocked(moved, where.block)), x, scale, zero, table.dtype, x.shape)


def _picked(table: Expr, indices: Expr, axis: int) -> Op:
    assert table.shape is not None
    assert table.dtype is not None
    assert indices.shape is not None
    shape = (*table.shape[:axis], *indices.shape, *table.shape[axis + 1 :])
    return Op("Gather", (table, indices), (("axis", axis),), table.dtype, shape)


def _form(op: Op, table: Step) -> str | None:
    """What to remark of a table that could have been written in two ways."""
    data, storage = op.inputs[0], table.meaning.storage
    return "bytes" if data is not None and data.dtype is dtypes.UINT8 and storage in NATIVE else None
