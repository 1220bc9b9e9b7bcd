"""What each spelling of QuantizeLinear and DequantizeLinear can express: one row for each operator version.

The rows stand in ``dialects``, one file for each spelling. The converter asks them ("may I write this?"), `inspect` reads nodes by
them, and the support page is printed from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from qdqtool.dialects import all_dialects
from qdqtool.dtypes import ElementType
from qdqtool.quantization import Blocked, ByScale, Kind, Meaning, PerAxis

Types = frozenset[ElementType]
Division = Literal["float32", "scale"]
Column = Literal["storage", "expressed", "scale"]


@dataclass(frozen=True, slots=True)
class Row:
    """One version of one operator.

    `linked`: scale and expressed type must be the same. `vector`: 1-D scales mean per axis. `axis`, `blocks`, `saturate`,
    `output_dtype`, `precision`: the attribute exists. `division`: the type a quantize divides in when `precision` does not say.
    `divides`: the types that `precision` may say (None: any). `operator`: its name, where it is not ONNX's. `renames`: attributes
    called otherwise, (ours, theirs). `order`: where the node has x, scale and zero point among its inputs. `runtime`: whose row
    this is, where it is a profile's.
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
    operator: str = ""
    renames: tuple[tuple[str, str], ...] = ()
    order: tuple[int, int, int] = (0, 1, 2)
    divides: Types | None = None
    runtime: str = ""

    @property
    def op(self) -> str:
        return self.operator or OPERATORS[self.kind]

    @property
    def attributes(self) -> frozenset[str]:
        """Names of the attributes this version has."""
        known = {"axis": self.axis, "block_size": self.blocks, "saturate": self.saturate, "output_dtype": self.output_dtype}
        return frozenset(self.theirs(name) for name, exists in (*known.items(), ("precision", self.precision)) if exists)

    def theirs(self, name: str) -> str:
        """What this spelling calls one of our attributes."""
        return dict(self.renames).get(name, name)

    def ours(self, name: str) -> str:
        """What we call one of this spelling's attributes."""
        return next((mine for mine, theirs in self.renames if theirs == name), name)

    @property
    def domain(self) -> str:
        return all_dialects()[self.dialect].DOMAIN

    def __str__(self) -> str:
        return f"{self.dialect} {self.op}-{self.version}" + (f" of {self.runtime}" if self.runtime else "")


OPERATORS: dict[Kind, str] = {"quantize": "QuantizeLinear", "dequantize": "DequantizeLinear"}


@cache
def rows() -> tuple[Row, ...]:
    """Every row of every dialect."""
    return tuple(row for dialect in all_dialects().values() for row in dialect.ROWS)


@cache
def operators() -> dict[tuple[str, str], tuple[str, Kind]]:
    """(domain, operator) to (dialect, kind) of everything that is a step."""
    return {(row.domain, row.op): (row.dialect, row.kind) for row in rows()}


@cache
def row_at(dialect: str, kind: Kind, version: int) -> Row | None:
    """The row in force when the dialect's domain is imported at `version`; None when the operator is younger."""
    fitting = [r for r in rows() if r.dialect == dialect and r.kind == kind and r.version <= version]
    return max(fitting, key=lambda r: r.version) if fitting else None


def first_version(dialect: str, kind: Kind, column: Column, dtype: ElementType) -> int | None:
    """The first version whose `column` holds `dtype`."""
    versions = [r.version for r in rows() if r.dialect == dialect and r.kind == kind and dtype in getattr(r, column)]
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
    if meaning.compute is not None and row.divides is not None and meaning.compute not in row.divides:
        reasons.append(f"{row} does not divide in {meaning.compute}")
    if meaning.rounding != "half even":
        reasons.append(f"{row} rounds half to even, not {meaning.rounding}")
    return reasons + _granularity_reason(meaning, row)


UNFIT = "the shapes of input, scale and axis fit no granularity"

_ROLE: dict[Kind, str] = {"quantize": "input", "dequantize": "output"}


def _type_reason(dtype: ElementType | None, row: Row, column: Column) -> list[str]:
    if dtype is None:
        return [f"the {_noun(row, column)} is not known here"]
    reason = lacks(dtype, row, column)
    return [reason] if reason else []


def _noun(row: Row, column: Column) -> str:
    return {"storage": "type", "expressed": f"{_ROLE[row.kind]} type", "scale": "scale type"}[column]


def lacks(dtype: ElementType | None, row: Row, column: Column) -> str:
    """Why a version has no such type, in words; empty when it has, or the type is not known."""
    allowed: Types = getattr(row, column)
    if dtype is None or dtype in allowed:
        return ""
    first = None if row.runtime else first_version(row.dialect, row.kind, column, dtype)
    since = f" (from {first} on)" if first else ""
    return f"{row} has no {_noun(row, column)} {dtype}{since}"


def _granularity_reason(meaning: Meaning, row: Row) -> list[str]:
    match meaning.granularity:
        case None:
            return [UNFIT]
        case Blocked() if not row.blocks:
            return [f"{row} has no blocks"]
        case PerAxis() | ByScale() if not row.vector:
            return [f"{row} has one scale only"]
    return []
