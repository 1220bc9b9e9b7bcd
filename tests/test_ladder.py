"""Every row of the capability table against its source: ``onnx.defs`` for ai.onnx, ONNX Runtime's registry for com.microsoft."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import onnx
import pytest
from onnxruntime.capi import onnxruntime_pybind11_state as registry

from qdqtool import dtypes
from qdqtool.capabilities import OPERATORS, Row, first_version, reject, row_at, rows
from qdqtool.dialects import all_dialects
from qdqtool.dtypes import ElementType
from qdqtool.quantization import Blocked, ByScale, Kind, Meaning, PerAxis, PerTensor

Types = frozenset[ElementType]
ALL = rows()
NAMES = {"float": "float32", "double": "float64"}


@dataclass(frozen=True)
class Declared:
    """What a schema says of one version: types and type variables of x, scale, zero point and y, and attributes."""

    dialect: str
    kind: Kind
    version: int
    types: tuple[Types, Types, Types, Types]
    variables: tuple[str, str, str, str]
    attributes: frozenset[str]

    @property
    def codes(self) -> int:
        """Position of the codes; the real values are the other of x and y."""
        return 3 if self.kind == "quantize" else 0

    @property
    def reals(self) -> int:
        return 3 - self.codes


def _types(allowed: Iterable[str]) -> Types:
    names = (text.removeprefix("tensor(").removesuffix(")") for text in allowed)
    return frozenset(dtypes.of_name(NAMES.get(n, n)) for n in names)


def _of_onnx(schema: onnx.defs.OpSchema, kind: Kind) -> Declared:
    ports = (*schema.inputs, schema.outputs[0])
    types = tuple(_types(p.types) for p in ports)
    return Declared("ai.onnx", kind, schema.since_version, types, tuple(p.type_str for p in ports), frozenset(schema.attributes))  # type: ignore[arg-type]


def in_onnx() -> list[Declared]:
    kinds = {op: kind for kind, op in OPERATORS.items()}
    found = [s for s in onnx.defs.get_all_schemas_with_history() if s.domain == "" and s.name in kinds]
    return sorted((_of_onnx(s, kinds[s.name]) for s in found), key=lambda d: (d.kind, d.version))


def in_onnxruntime() -> list[Declared]:
    kinds = {op: kind for kind, op in OPERATORS.items()}
    schemas = [s for s in registry.get_all_operator_schema() if s.domain == "com.microsoft" and s.name in kinds]
    found = []
    for schema in schemas:
        allowed = {c.type_param_str: _types(c.allowed_type_strs) for c in schema.type_constraints}
        variables = tuple(p.typeStr for p in (*schema.inputs, schema.outputs[0]))
        types = tuple(allowed[v] for v in variables)
        found.append(Declared(schema.domain, kinds[schema.name], schema.since_version, types, variables, frozenset(schema.attributes)))  # type: ignore[arg-type]
    return found


DECLARED = [*in_onnx(), *in_onnxruntime()]
IDS = [f"{d.dialect} {d.kind} {d.version}" for d in DECLARED]


def missing(declared: Iterable[Declared], known: Iterable[Row]) -> list[str]:
    """What each version without a row brings, compared with the one before it."""
    have = {(r.dialect, r.kind, r.version) for r in known}
    reports, before = [], dict[tuple[str, str], Declared]()
    for d in declared:
        if (d.dialect, d.kind, d.version) not in have:
            reports.append(
                f"no row in dialects for {d.dialect} {OPERATORS[d.kind]}-{d.version}: {_news(d, before.get((d.dialect, d.kind)))}"
            )
        before[d.dialect, d.kind] = d
    return reports


def _news(new: Declared, old: Declared | None) -> str:
    parts = []
    for name, place in (("storage", new.codes), ("expressed", new.reals), ("scale", 1)):
        known = old.types[place] if old else frozenset()
        parts += [f"{sign} {name} {', '.join(sorted(map(str, types)))}" for sign, types in _changes(known, new.types[place]) if types]
    known_names = old.attributes if old else frozenset()
    parts += [f"{sign} attribute {', '.join(sorted(names))}" for sign, names in _changes(known_names, new.attributes) if names]
    return "; ".join(parts) or "as before"


def _changes(old: frozenset, new: frozenset) -> tuple[tuple[str, frozenset], ...]:  # type: ignore[type-arg]
    return ("+", new - old), ("-", old - new)


def _row(declared: Declared) -> Row:
    return next(r for r in ALL if (r.dialect, r.kind, r.version) == (declared.dialect, declared.kind, declared.version))


def test_every_version_has_a_row() -> None:
    assert not (gaps := missing(DECLARED, ALL)), "\n".join(gaps)


def test_every_row_is_a_version() -> None:
    assert {(r.dialect, r.kind, r.version) for r in ALL} == {(d.dialect, d.kind, d.version) for d in DECLARED}


def test_a_version_without_a_row_is_told_with_what_it_brings() -> None:
    known = [r for r in ALL if (r.kind, r.version) not in (("quantize", 28), ("dequantize", 23))]
    assert missing(DECLARED, known) == [
        "no row in dialects for ai.onnx DequantizeLinear-23: + storage float4e2m1; + attribute output_dtype",
        "no row in dialects for ai.onnx QuantizeLinear-28: + storage float6e2m3, float6e3m2",
    ]


@pytest.mark.parametrize("declared", DECLARED, ids=IDS)
def test_types(declared: Declared) -> None:
    row = _row(declared)
    assert row.storage == declared.types[declared.codes] == declared.types[2]
    assert row.expressed == declared.types[declared.reals]
    assert row.scale == declared.types[1]


@pytest.mark.parametrize("declared", DECLARED, ids=IDS)
def test_links(declared: Declared) -> None:
    assert _row(declared).linked == (declared.variables[1] == declared.variables[declared.reals])
    assert declared.variables[2] == declared.variables[declared.codes], "the zero point has the type of the codes"


@pytest.mark.parametrize("declared", DECLARED, ids=IDS)
def test_attributes(declared: Declared) -> None:
    row = _row(declared)
    assert row.attributes == declared.attributes
    assert row.vector == ("axis" in declared.attributes), "vectors came with the axis"


@pytest.mark.parametrize("row", [r for r in ALL if r.kind == "quantize"], ids=str)
def test_the_division_follows_the_scale_from_precision_on(row: Row) -> None:
    """Measured with ONNX Runtime 1.32: float16 is divided in float32 up to version 22, in float16 from 23 on."""
    assert row.division == ("scale" if row.precision else "float32")


def test_linked_where_both_types_are_free_only() -> None:
    """A link between fixed types says nothing new: there it may stand either way."""
    assert {r.version for r in ALL if r.linked and len(r.scale) > 1 and r.dialect == "ai.onnx"} == {19, 21}


@pytest.mark.parametrize(
    ("version", "expected"), [(9, None), (10, 10), (12, 10), (13, 13), (18, 13), (22, 21), (23, 23), (27, 25), (28, 28), (31, 28)]
)
@pytest.mark.parametrize("kind", ["quantize", "dequantize"])
def test_the_row_in_force(kind: Kind, version: int, expected: int | None) -> None:
    row = row_at("ai.onnx", kind, version)
    assert (None if row is None else row.version) == expected


def test_a_dialect_without_such_a_row() -> None:
    assert str(row_at("com.microsoft", "quantize", 1)) == "com.microsoft QuantizeLinear-1"
    assert row_at("com.example", "quantize", 1) is None


@pytest.mark.parametrize(
    ("dtype", "version"),
    [(dtypes.INT8, 10), (dtypes.FLOAT8E5M2, 19), (dtypes.UINT4, 21), (dtypes.FLOAT4E2M1, 23), (dtypes.INT2, 25), (dtypes.INT64, None)],
)
def test_the_first_version_with_a_type(dtype: ElementType, version: int | None) -> None:
    assert first_version("ai.onnx", "quantize", "storage", dtype) == version


F32, F16 = dtypes.FLOAT, dtypes.FLOAT16
REJECTED = {
    "type": (Meaning("dequantize", dtypes.INT4, F32, F32, PerTensor()), 13, ["ai.onnx DequantizeLinear-13 has no type int4 (from 21 on)"]),
    "type it never had": (Meaning("quantize", dtypes.INT64, F32, F32, PerTensor()), 21, ["ai.onnx QuantizeLinear-21 has no type int64"]),
    "unknown type": (Meaning("dequantize", None, F32, F32, PerTensor()), 21, ["the type is not known here"]),
    "unknown scale": (
        Meaning("dequantize", dtypes.INT8, F32, None, PerTensor()),
        13,
        ["the scale type is not known here", "ai.onnx DequantizeLinear-13 needs scale and output of one type, not None and float32"],
    ),
    "input": (
        Meaning("quantize", dtypes.INT8, F16, F32, PerTensor()),
        13,
        ["ai.onnx QuantizeLinear-13 has no input type float16 (from 19 on)"],
    ),
    "link": (
        Meaning("quantize", dtypes.INT8, F16, F32, PerTensor()),
        21,
        ["ai.onnx QuantizeLinear-21 needs scale and input of one type, not float32 and float16"],
    ),
    "blocks": (Meaning("dequantize", dtypes.INT8, F32, F32, Blocked(0, 4)), 19, ["ai.onnx DequantizeLinear-19 has no blocks"]),
    "vectors": (Meaning("dequantize", dtypes.INT8, F32, F32, PerAxis(0)), 10, ["ai.onnx DequantizeLinear-10 has one scale only"]),
    "maybe vectors": (Meaning("dequantize", dtypes.INT8, F32, F32, ByScale(0)), 10, ["ai.onnx DequantizeLinear-10 has one scale only"]),
    "no granularity": (
        Meaning("dequantize", dtypes.INT8, F32, F32, None),
        21,
        ["the shapes of input, scale and axis fit no granularity"],
    ),
}


@pytest.mark.parametrize(("meaning", "version", "reasons"), REJECTED.values(), ids=REJECTED.keys())
def test_rejections(meaning: Meaning, version: int, reasons: list[str]) -> None:
    row = row_at("ai.onnx", meaning.kind, version)
    assert row is not None
    assert reject(meaning, row) == reasons


def test_nothing_is_rejected_without_reason() -> None:
    for row in ALL:
        for storage in row.storage:
            scale = F32
            meaning = Meaning(row.kind, storage, F32, scale, PerTensor(), scale if row.kind == "quantize" else None)
            assert reject(meaning, row) == []


def test_rows_print_by_name() -> None:
    assert str(ALL[0]) == "ai.onnx QuantizeLinear-10"
    assert str(replace(ALL[0], operator="Quant")) == "ai.onnx Quant-10"


def test_dialects_and_their_domains() -> None:
    domains = {"ai.onnx": "", "arithmetic": "", "com.microsoft": "com.microsoft"}
    assert {name: dialect.DOMAIN for name, dialect in all_dialects().items()} == domains
    assert {row.dialect: row.domain for row in ALL} == {"ai.onnx": "", "com.microsoft": "com.microsoft"}
