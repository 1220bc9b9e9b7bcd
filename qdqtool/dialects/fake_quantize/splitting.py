"""A FakeQuantize node as a quantize and a dequantize, or as the arithmetic of its formula."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from qdqtool import dtypes
from qdqtool.dialects import Asking, Impossible, Saying, Way
from qdqtool.dialects.fake_quantize.ranges import REALS, SCALE, SIGN, Numbers, Ranges, granularity, read, scale_of, storages_of, zero_point
from qdqtool.dtypes import ElementType
from qdqtool.exactness import Bound, Exactness
from qdqtool.expressions import Computed, Expr, Op, Runtime, Step, binary, cast, is_const, literal
from qdqtool.phrases import MAGIC
from qdqtool.quantization import Granularity, Meaning, PerTensor

Grid = tuple[Numbers, Numbers]
"""Scale and zero point."""

ROUNDED = {dtypes.FLOAT: 2.0**-20, dtypes.FLOAT16: 2.0**-9}
"""Share of the output's maximum by which the order of roundings moves a value, by its type."""


def split(op: Op, asking: Asking) -> Saying | Impossible:
    x, found = (*op.inputs, None)[0], read(op, asking)
    if isinstance(found, Impossible) or x is None:
        return found if isinstance(found, Impossible) else Impossible(("it has no input",))
    if op.dtype not in REALS:
        return Impossible((f"it is of {op.dtype}",))
    known = replace(x, dtype=op.dtype) if isinstance(x, Runtime) else x
    wide, bound = cast(known, dtypes.FLOAT), Bound(of_maximum=ROUNDED[op.dtype])
    steps = _steps(found, wide, asking)
    said = [Way(cast(step, op.dtype), Exactness.ROUNDING, bound + Bound(steps=1, ties=True)) for step in steps]
    said += [Way(cast(formula, op.dtype), Exactness.ROUNDING, bound) for formula in _formulas(found, wide)]
    meaning = _first(steps[0]) if steps else Meaning("quantize", None, op.dtype, dtypes.FLOAT, None)
    return Saying(tuple(said), meaning, ((SIGN, None), (SCALE, None)))


def _first(step: Step) -> Meaning:
    inner = step.x.inputs[0] if isinstance(step.x, Op) else step.x
    assert isinstance(inner, Step)
    return inner.meaning


def _steps(ranges: Ranges, x: Expr, asking: Asking) -> list[Step]:
    """A quantize by the input range, a dequantize by the output range; none where the zero is no level of one, or a range is of no axis."""
    where = granularity(ranges.input[0].shape, None if x.shape is None else len(x.shape))
    if where is None or not (ranges.output[0] < ranges.output[1]).all():
        return []
    scales = [scale_of(*ends, ranges.levels, asking.remark(SCALE)) for ends in (ranges.input, ranges.output)]
    zeros = [zero_point(ends[0], scale, ranges.levels) for ends, scale in zip((ranges.input, ranges.output), scales, strict=True)]
    if zeros[0] is None or zeros[1] is None:
        return []
    signed = _signed(zeros[0], zeros[1], ranges.levels, asking)
    grids = [(scales[0], zeros[0]), (scales[1], zeros[1])]
    return [_pair(x, ranges, grids, where, storage, asking, signed=signed) for storage in storages_of(ranges.levels, signed=signed)]


def _pair(
    x: Expr, ranges: Ranges, grids: Sequence[Grid], where: Granularity, storage: ElementType, asking: Asking, *, signed: bool
) -> Step:
    """Clipped where the type has more codes: as codes of 8 bits, or before as real values, since runtimes clip no codes of 16 bits."""
    narrow = ranges.levels < 1 << storage.bits
    shift = (ranges.levels // 2 if narrow else 1 << (storage.bits - 1)) if signed else 0
    (scale, zero), (after, back) = grids
    low, high = -shift, ranges.levels - 1 - shift
    codes = _quantize(_clipped(x, ranges.input) if narrow and storage.bits > 8 else x, storage, where, scale, zero - shift)
    if narrow and storage.bits == 8 and not _within(codes, low, high, asking):
        return _dequantize(
            Op("Clip", (codes, literal(low, storage), literal(high, storage)), (), storage, x.shape), where, after, back - shift
        )
    return _dequantize(codes, where, after, back - shift)


def _within(step: Step, low: int, high: int, asking: Asking) -> bool:
    """No constant is quantized to a code outside."""
    said, parts = step.meaning, [e for e in (step.x, step.scale, step.zero_point) if is_const(e)]
    if len(parts) < 3 or said.storage is None:
        return False
    how = said.granularity, said.storage, said.compute, said.saturate
    found = asking.fact("value_range", Computed("quantize", tuple(parts), how, said.storage, parts[0].shape))
    return bool(low <= found[0] and found[1] <= high)


def _signed(inside: Numbers, outside: Numbers, levels: int, asking: Asking) -> bool:
    """As asked for, or as it was; else where that makes the zero point 0."""
    asked = asking.sign or asking.remark(SIGN)
    middle = levels // 2
    return asked == "signed" if asked else bool((inside == middle).all() and (outside == middle).all())


def _quantize(x: Expr, storage: ElementType, where: Granularity, scale: Numbers, zero: Numbers) -> Step:
    said = Meaning("quantize", storage, dtypes.FLOAT, dtypes.FLOAT, where, dtypes.FLOAT)
    return Step(said, x, _parameter(scale, dtypes.FLOAT, where), _parameter(zero, storage, where), storage, x.shape)


def _dequantize(codes: Step | Op, where: Granularity, scale: Numbers, zero: Numbers) -> Step:
    assert codes.dtype is not None
    said = Meaning("dequantize", codes.dtype, dtypes.FLOAT, dtypes.FLOAT, where)
    return Step(said, codes, _parameter(scale, dtypes.FLOAT, where), _parameter(zero, codes.dtype, where), dtypes.FLOAT, codes.shape)


def _parameter(numbers: Numbers, dtype: ElementType, where: Granularity) -> Expr:
    return literal(numbers.reshape(() if isinstance(where, PerTensor) else -1), dtype)


def _formulas(ranges: Ranges, x: Expr) -> list[Expr]:
    """The formula, rounding by Round and, for old opsets, by a magic number, which all levels are small enough for."""
    low, most = _number(ranges.input[0]), literal(np.float32(ranges.levels - 1), dtypes.FLOAT)
    clipped = _clipped(x, ranges.input)
    width, out = (_number(ends[1] - ends[0]) for ends in (ranges.input, ranges.output))
    level = binary("Mul", binary("Div", binary("Sub", clipped, low), width), most)
    magic = literal(MAGIC, dtypes.FLOAT)
    rounded: list[Expr] = [Op("Round", (level,), (), dtypes.FLOAT, x.shape), binary("Sub", binary("Add", level, magic), magic)]
    return [binary("Add", binary("Mul", binary("Div", each, most), out), _number(ranges.output[0])) for each in rounded]


def _clipped(x: Expr, ends: tuple[Numbers, Numbers]) -> Op:
    return binary("Min", binary("Max", x, _number(ends[0])), _number(ends[1]))


def _number(end: Numbers) -> Expr:
    """An end as it broadcasts."""
    return literal(end.reshape(()) if end.size == 1 else end, dtypes.FLOAT)
