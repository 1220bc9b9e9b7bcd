"""What each spelling of QuantizeLinear and DequantizeLinear can express: one row for each operator version.

Four readers: the converter ("may I write this?"), the linter, runtime profiles (more rows of the same kind) and the support page.
Sources: ``onnx.defs`` of onnx 1.23 (a test compares every row with it), and for what the texts leave open ONNX Runtime 1.32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from qdqtool import dtypes as t
from qdqtool.dtypes import ElementType
from qdqtool.quantization import Blocked, ByScale, Kind, Meaning, PerAxis

Types = frozenset[ElementType]
Division = Literal["float32", "scale"]


@dataclass(frozen=True, slots=True)
class Row:
    """One version of one operator.

    `linked`: scale and expressed type must be the same. `vector`: 1-D scales mean per axis. `axis`, `blocks`, `saturate`,
    `output_dtype`, `precision`: the attribute exists. `division`: the type a quantize divides in when `precision` does not say.
    """

    dialect: str
    kind: Kind
    version: int
    storage: Types
    expressed: Types
    scale: Types
    linked: bool
    division: Division = "float32"
    vector: bool = True
    axis: bool = True
    blocks: bool = False
    saturate: bool = False
    output_dtype: bool = False
    precision: bool = False

    @property
    def op(self) -> str:
        return OPERATORS[self.kind]

    @property
    def attributes(self) -> frozenset[str]:
        """Names of the attributes this version has."""
        known = {"axis": self.axis, "block_size": self.blocks, "saturate": self.saturate, "output_dtype": self.output_dtype}
        return frozenset(name for name, exists in (*known.items(), ("precision", self.precision)) if exists)

    @property
    def domain(self) -> str:
        return "" if self.dialect == "ai.onnx" else self.dialect

    def __str__(self) -> str:
        return f"{self.dialect} {self.op}-{self.version}"


OPERATORS: dict[Kind, str] = {"quantize": "QuantizeLinear", "dequantize": "DequantizeLinear"}

_I8 = frozenset({t.INT8, t.UINT8})
_I16 = frozenset({t.INT16, t.UINT16})
_I4 = frozenset({t.INT4, t.UINT4})
_I2 = frozenset({t.INT2, t.UINT2})
_I32 = frozenset({t.INT32})
_F8 = frozenset(t.FLOAT8)
_F4 = frozenset({t.FLOAT4E2M1})
_F6 = frozenset({t.FLOAT6E2M3, t.FLOAT6E3M2})
_E8 = frozenset({t.FLOAT8E8M0})
_F32 = frozenset({t.FLOAT})
_FLOATS = frozenset({t.FLOAT, t.FLOAT16, t.BFLOAT16})
_HALF = frozenset({t.FLOAT, t.FLOAT16})

_19 = _I8 | _F8
_21 = _19 | _I16 | _I4
_23 = _21 | _F4
_25 = _23 | _I2
_28 = _25 | _F6


def _quantize(
    version: int, storage: Types, scale: Types, *, linked: bool = False, division: Division = "scale", blocks: bool = True
) -> Row:
    return Row("ai.onnx", "quantize", version, storage, _FLOATS | _I32, scale, linked, division,
               blocks=blocks, saturate=True, output_dtype=blocks, precision=not linked)  # fmt: skip


def _dequantize(version: int, storage: Types, scale: Types, *, linked: bool = False, blocks: bool = True) -> Row:
    return Row("ai.onnx", "dequantize", version, storage | _I32, _FLOATS, scale, linked, blocks=blocks, output_dtype=not linked)


ROWS: tuple[Row, ...] = (
    Row("ai.onnx", "quantize", 10, _I8, _F32 | _I32, _F32, False, vector=False, axis=False),
    Row("ai.onnx", "quantize", 13, _I8, _F32 | _I32, _F32, False),
    _quantize(19, _19, _FLOATS | _I32, linked=True, division="float32", blocks=False),
    _quantize(21, _21, _FLOATS | _I32, linked=True, division="float32"),
    _quantize(23, _23, _FLOATS | _I32),
    _quantize(24, _23, _FLOATS | _I32 | _E8),
    _quantize(25, _25, _FLOATS | _I32 | _E8),
    _quantize(28, _28, _FLOATS | _I32 | _E8),
    Row("ai.onnx", "dequantize", 10, _I8 | _I32, _F32, _F32, True, vector=False, axis=False),
    Row("ai.onnx", "dequantize", 13, _I8 | _I32, _F32, _F32, True),
    _dequantize(19, _19, _FLOATS, linked=True, blocks=False),
    _dequantize(21, _21, _FLOATS, linked=True),
    _dequantize(23, _23, _FLOATS),
    _dequantize(24, _23, _FLOATS | _E8),
    _dequantize(25, _25, _FLOATS | _E8),
    _dequantize(28, _28, _FLOATS | _E8),
    Row("com.microsoft", "quantize", 1, _I8 | _I16 | _I4, _HALF, _HALF, True),
    Row("com.microsoft", "dequantize", 1, _I8 | _I16 | _I4 | _I32, _HALF, _HALF, True),
)

DIALECTS = tuple(dict.fromkeys(row.dialect for row in ROWS))


def row_at(dialect: str, kind: Kind, version: int) -> Row | None:
    """The row in force when the dialect's domain is imported at `version`; None when the operator is younger."""
    fitting = [r for r in ROWS if r.dialect == dialect and r.kind == kind and r.version <= version]
    return max(fitting, key=lambda r: r.version) if fitting else None


def first_version(dialect: str, kind: Kind, column: Literal["storage", "expressed", "scale"], dtype: ElementType) -> int | None:
    """The first version whose `column` holds `dtype`."""
    versions = [r.version for r in ROWS if r.dialect == dialect and r.kind == kind and dtype in getattr(r, column)]
    return min(versions, default=None)


def reject(meaning: Meaning, row: Row) -> list[str]:
    """Why `row` cannot express `meaning`, in words; empty when it can."""
    reasons = [
        *_type_reason(meaning.storage, row, "storage"),
        *_type_reason(meaning.expressed, row, "expressed"),
        *_type_reason(meaning.scale_type, row, "scale"),
    ]
    if row.linked and meaning.scale_type is not meaning.expressed:
        reasons.append(f"{row} needs scale and {_ROLE[row.kind]} of one type, not {meaning.scale_type} and {meaning.expressed}")
    return reasons + _granularity_reason(meaning, row)


_ROLE: dict[Kind, str] = {"quantize": "input", "dequantize": "output"}


def _type_reason(dtype: ElementType | None, row: Row, column: Literal["storage", "expressed", "scale"]) -> list[str]:
    allowed: Types = getattr(row, column)
    if dtype in allowed:
        return []
    noun = {"storage": "type", "expressed": f"{_ROLE[row.kind]} type", "scale": "scale type"}[column]
    if dtype is None:
        return [f"the {noun} is not known here"]
    first = first_version(row.dialect, row.kind, column, dtype)
    since = f" (from {first} on)" if first else ""
    return [f"{row} has no {noun} {dtype}{since}"]


def _granularity_reason(meaning: Meaning, row: Row) -> list[str]:
    match meaning.granularity:
        case None:
            return ["the shapes of input, scale and axis fit no granularity"]
        case Blocked() if not row.blocks:
            return [f"{row} has no blocks"]
        case PerAxis() | ByScale() if not row.vector:
            return [f"{row} has one scale only"]
    return []
