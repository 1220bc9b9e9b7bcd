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
from qdqtool.granularities import Misfit, Shape, fit
from qdqtool.quantization import Blocked, ByScale, Granularity, Meaning, PerAxis


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
    """How scales spread over the elements; None when the shapes give the node no meaning."""
    found = fitted(spelling, row)
    return None if isinstance(found, Misfit) else found


def fitted(spelling: Spelling, row: Row) -> Granularity | Misfit:
    """The granularity, or why there is none.

    Below version 13 a vector is read as ONNX Runtime does, along `axis` (default 1), though the text knows scalars only.
    """
    block = spelling.attributes.get("block_size", 0) if row.blocks else 0
    return fit(spelling.x.shape, spelling.scale.shape, spelling.attributes.get("axis", 1), block)


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
