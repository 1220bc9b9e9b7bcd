"""One reader and one writer of QuantizeLinear and DequantizeLinear in every version, on plain data.

What is written is read back with the row's own rules and must give the meaning that was wanted, so a forgotten rule can refuse
too much but never convert wrongly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qdqtool import capabilities, dtypes
from qdqtool.capabilities import Row
from qdqtool.dtypes import ElementType
from qdqtool.quantization import Blocked, ByScale, Granularity, Meaning, PerAxis, PerTensor

Shape = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Operand:
    """Type and shape of one input, as far as they are known."""

    dtype: ElementType | None
    shape: Shape | None


@dataclass(frozen=True, slots=True)
class Spelling:
    """A node as written: integer attributes present and operands."""

    attributes: Mapping[str, int]
    x: Operand
    scale: Operand
    zero_point: Operand | None


def read(spelling: Spelling, row: Row) -> Meaning:
    """What the node means by the rules of `row`; a field is None where the graph does not tell it."""
    if row.kind == "quantize":
        return _read_quantize(spelling, row)
    return _read_dequantize(spelling, row)


def _read_quantize(spelling: Spelling, row: Row) -> Meaning:
    attributes, scale = spelling.attributes, spelling.scale.dtype
    named = dtypes.of_code(attributes.get("output_dtype", 0)) if row.output_dtype else None
    storage = spelling.zero_point.dtype if spelling.zero_point else named or dtypes.UINT8
    saturate = bool(attributes.get("saturate", 1)) or not (row.saturate and storage in dtypes.FLOAT8)
    return Meaning("quantize", storage, spelling.x.dtype, scale, granularity(spelling, row), _division(spelling, row), saturate)


def _division(spelling: Spelling, row: Row) -> ElementType | None:
    if row.precision and spelling.attributes.get("precision", 0):
        return dtypes.of_code(spelling.attributes["precision"])
    scale = spelling.scale.dtype
    if row.division == "float32" or scale is None:
        return dtypes.FLOAT if row.division == "float32" else None
    return scale if scale in (dtypes.FLOAT16, dtypes.BFLOAT16) else dtypes.FLOAT


def _read_dequantize(spelling: Spelling, row: Row) -> Meaning:
    scale = spelling.scale.dtype
    named = dtypes.of_code(spelling.attributes.get("output_dtype", 0)) if row.output_dtype else None
    return Meaning("dequantize", spelling.x.dtype, named or scale, scale, granularity(spelling, row))


def granularity(spelling: Spelling, row: Row) -> Granularity | None:
    """How scales spread over the elements; None when the shapes give the node no meaning.

    Below version 13 a vector is read as ONNX Runtime does, along `axis` (default 1), though the text knows scalars only.
    """
    x, scale = spelling.x.shape, spelling.scale.shape
    axis = spelling.attributes.get("axis", 1)
    block = spelling.attributes.get("block_size", 0) if row.blocks else 0
    if scale is None:
        return _unknown_rank(x, axis, block)
    if block:
        return _blocked(x, scale, axis, block)
    if len(scale) == 0 or scale == (1,):
        return PerTensor()
    return _vector(x, scale, axis)


def _unknown_rank(x: Shape | None, axis: int, block: int) -> Granularity | None:
    at = _place(x, axis)
    if at is None:
        return None if block else PerTensor()
    return Blocked(at, block) if block else ByScale(at)


def _place(x: Shape | None, axis: int) -> int | None:
    """`axis` counted from the front where the rank is known; None when out of range."""
    if x is None:
        return axis
    return axis + (len(x) if axis < 0 else 0) if -len(x) <= axis < len(x) else None


def _vector(x: Shape | None, scale: Shape, axis: int) -> Granularity | None:
    at = _place(x, axis)
    if len(scale) > 1:
        return None
    if at is None:
        return PerTensor() if scale[0] is None else None
    if x is not None and None not in (scale[0], x[at]) and scale[0] != x[at]:
        return None
    return PerAxis(at)


def _blocked(x: Shape | None, scale: Shape, axis: int, block: int) -> Granularity | None:
    at = _place(x, axis)
    if at is None or block < 0 or (x is not None and len(scale) != len(x)):
        return None
    if x is None:
        return Blocked(at, block)
    for place, (have, want) in enumerate(zip(scale, x, strict=True)):
        expected = want if want is None or place != at else -(-want // block)
        if None not in (have, expected) and have != expected:
            return None
    return Blocked(at, block)


def write(meaning: Meaning, x: Operand, scale: Operand, zero_point: Operand | None, row: Row) -> dict[str, int] | list[str]:
    """The attributes that say `meaning` in `row`, or the reasons why it cannot."""
    reasons = capabilities.reject(meaning, row)
    if reasons:
        return reasons
    attributes = _attributes(meaning, zero_point, row)
    got = read(Spelling(attributes, x, scale, zero_point), row)
    return attributes if got == meaning else [f"{row} would mean {got}"]


def _attributes(meaning: Meaning, zero_point: Operand | None, row: Row) -> dict[str, int]:
    attributes: dict[str, int] = {}
    where = meaning.granularity
    if isinstance(where, PerAxis | Blocked | ByScale) and row.axis:
        attributes["axis"] = where.axis
    if isinstance(where, Blocked):
        attributes["block_size"] = where.block
    if meaning.kind == "dequantize":
        if row.output_dtype and meaning.expressed not in (None, meaning.scale_type):
            attributes["output_dtype"] = meaning.expressed.code
        return attributes
    if zero_point is None and row.output_dtype and meaning.storage not in (None, dtypes.UINT8):
        attributes["output_dtype"] = meaning.storage.code
    if row.saturate and not meaning.saturate:
        attributes["saturate"] = 0
    if row.precision and meaning.compute is not None and meaning.compute is not _natural(meaning):
        attributes["precision"] = meaning.compute.code
    return attributes


def _natural(meaning: Meaning) -> ElementType | None:
    return meaning.scale_type if meaning.scale_type in (dtypes.FLOAT16, dtypes.BFLOAT16) else dtypes.FLOAT
