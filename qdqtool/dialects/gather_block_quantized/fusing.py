"""A Gather from a dequantized table as a GatherBlockQuantized node."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from qdqtool import dtypes, packed, repeated
from qdqtool.dialects import Asking, Impossible, Saying, Way
from qdqtool.dialects.gather_block_quantized.table import DOMAIN, FORM, NATIVE, PACKED, SIGN, pattern
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Const, Expr, Op, Shape, Step, cast, is_const, literal
from qdqtool.packed import as_const, shaped
from qdqtool.quantization import Blocked, PerAxis, PerTensor


def fuse(expr: Expr, asking: Asking) -> Saying | Impossible | None:
    found = pattern(expr)
    if found is None:
        return None
    table, real = found.table, found.table.meaning.expressed
    reasons = _unfit(table)
    parts = None if reasons else _blocks(table)
    if parts is None or real is None:
        return Impossible(reasons or ("its scales follow the table otherwise than in blocks of 16, 32, 64 ...",))
    scale, zero, along, block = parts
    codes = as_const(table.x)
    native = codes.dtype in NATIVE and asking.remark(FORM) != "bytes"
    attributes = {"block_size": block, "quantize_axis": along, "gather_axis": found.axis}
    ways = [_operator((codes, found.indices, scale, zero), attributes, real, expr.shape)] if native else []
    if found.axis == 0 and along == len(codes.shape) - 1 != 0 and codes.shape[-1] * codes.dtype.bits % 8 == 0 and codes.dtype in PACKED:
        zeros, bits = _packed_zeros(codes, scale, zero), attributes | {"bits": codes.dtype.bits}
        ways += [_operator((rows, found.indices, scale, zeros), bits, real, expr.shape) for rows in _rows(codes, zero, block)]
    if not ways:
        return Impossible((f"GatherBlockQuantized has no {codes.dtype} table of shape {list(codes.shape)} read along axis {found.axis}",))
    signed = codes.dtype.kind == "int" and zero is not None
    remarks = (SIGN, "signed" if signed else None), (FORM, None), (repeated.SCALES, repeated.remark(table.meaning.granularity, block))
    return Saying(tuple(map(Way, ways)), table.meaning, remarks)


def _operator(inputs: tuple[Expr | None, ...], attributes: Mapping[str, int], real: ElementType, shape: Shape | None) -> Op:
    given = inputs if inputs[-1] is not None else inputs[:-1]
    return Op("GatherBlockQuantized", given, tuple(sorted(attributes.items())), real, shape, DOMAIN)


def _rows(codes: Const, zero: Const | None, block: int) -> list[Expr]:
    """The table as bytes: by itself, and as a matrix of whole blocks in three dimensions, which a fused product may hold too."""
    bits, length = codes.dtype.bits, codes.shape[-1]
    stride, flat = length * bits // 8, packed.as_rows(codes)
    rows: list[Expr] = [shaped(packed.packed(flat, (flat.shape[0], stride), 0), (*codes.shape[:-1], stride))]
    if len(codes.shape) == 2 and length % block == 0:
        shared = packed.packed(codes, (codes.shape[0], length // block, block * bits // 8), 0, zero)
        rows.append(Op("Reshape", (shared, literal((codes.shape[0], stride), dtypes.INT64)), (), dtypes.UINT8, (codes.shape[0], stride)))
    return rows


def _packed_zeros(codes: Const, scale: Const, zero: Const | None) -> Const | None:
    if zero is None and codes.dtype.kind == "int":
        return None
    rows, blocks = prod(scale.shape[:-1]), scale.shape[-1]
    flat = packed.no_zeros(rows, blocks, codes.dtype) if zero is None else packed.packed_zeros(packed.as_rows(zero))
    return shaped(flat, (*scale.shape[:-1], flat.shape[-1]))


def _unfit(table: Step) -> tuple[str, ...]:
    said = table.meaning
    reasons = []
    if said.storage not in (*NATIVE, *PACKED):
        reasons.append(f"GatherBlockQuantized has no {said.storage} tables")
    if said.scale_type is not said.expressed and said.expressed is not dtypes.FLOAT:
        reasons.append(f"GatherBlockQuantized has no {said.expressed} of {said.scale_type} scales")
    if not is_const(table.scale) or not (table.zero_point is None or is_const(table.zero_point)):
        reasons.append("its scales or zero points are not constant")
    return tuple(reasons)


def _blocks(table: Step) -> tuple[Const, Const | None, int, int] | None:
    """Scales, zero points, the axis of the blocks and their size."""
    shape, zero = as_const(table.x).shape, None if table.zero_point is None else as_const(table.zero_point)
    assert table.meaning.expressed is not None
    scale, last = as_const(cast(table.scale, table.meaning.expressed)), len(shape) - 1
    match table.meaning.granularity:
        case Blocked(axis, block) if block >= 16 and not block & (block - 1):
            return scale, zero, axis, block
        case PerAxis(axis) if axis != last:
            narrow = tuple(n if d == axis else 1 for d, n in enumerate(shape))
        case PerTensor() if last > 0:
            narrow = ()
        case _:
            return None
    size = repeated.block_of(shape[last])
    wanted = (*shape[:-1], -(-shape[last] // size))
    spread = [None if c is None else packed.repeated(shaped(c, narrow), wanted) for c in (scale, zero)]
    return as_const(spread[0]), spread[1], last, size
