from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from qdqtool import dtypes
from qdqtool.capabilities import Row, row_at, rows
from qdqtool.dtypes import ElementType
from qdqtool.quantization import Blocked, ByScale, Granularity, Kind, Meaning, PerAxis, PerTensor
from qdqtool.spelling import Operand, Spelling, read, write

LETTER: dict[str, Kind] = {"Q": "quantize", "D": "dequantize"}
T, A, B = PerTensor(), PerAxis, Blocked


def operand(text: str) -> Operand:
    """``int8[4,?]``; ``?`` for an unknown type or size, no brackets for an unknown rank."""
    name, bracket, sizes = text.partition("[")
    shape = tuple(None if s == "?" else int(s) for s in sizes.rstrip("]").split(",") if s)
    return Operand(None if name == "?" else dtypes.of_name(name), shape if bracket else None)


def spelled(operands: str, attributes: dict[str, int]) -> Spelling:
    x, scale, *zero = map(operand, operands.split())
    return Spelling(attributes, x, scale, zero[0] if zero else None)


def row(text: str) -> Row:
    """``Q21``, ``D13``, ``QM`` (com.microsoft)."""
    found = row_at("com.microsoft", LETTER[text[0]], 1) if text[1:] == "M" else row_at("ai.onnx", LETTER[text[0]], int(text[1:]))
    assert found is not None
    return found


GRANULARITIES: dict[str, tuple[str, str, dict[str, int], Granularity | None]] = {
    "scalar": ("D13", "int8[4,6] float32[]", {}, T),
    "vector of one": ("D13", "int8[4,6] float32[1]", {"axis": 0}, T),
    "vector of one, axis out of range": ("D13", "int8[4,6] float32[1]", {"axis": 7}, T),
    "default axis": ("D13", "int8[4,6] float32[6]", {}, A(1)),
    "first axis": ("D13", "int8[4,6] float32[4]", {"axis": 0}, A(0)),
    "last axis from the end": ("D13", "int8[4,6] float32[6]", {"axis": -1}, A(1)),
    "first axis from the end": ("Q13", "float32[4,6] float32[4] int8[4]", {"axis": -2}, A(0)),
    "vector at 10, as ONNX Runtime reads it": ("D10", "int8[4,6] float32[6]", {}, A(1)),
    "vector at 10 with an axis": ("D10", "int8[4,6] float32[4]", {"axis": 0}, A(0)),
    "com.microsoft, default axis": ("DM", "int8[4,6] float32[6]", {}, A(1)),
    "blocks": ("D21", "int4[4,6] float32[4,2]", {"axis": 1, "block_size": 3}, B(1, 3)),
    "blocks, default axis": ("D21", "int4[4,6] float32[4,2]", {"block_size": 3}, B(1, 3)),
    "blocks along an axis from the end": ("Q21", "float32[4,6] float32[2,6] int8[2,6]", {"axis": -2, "block_size": 2}, B(0, 2)),
    "ragged blocks": ("D21", "int4[4,7] float32[4,3]", {"block_size": 3}, B(1, 3)),
    "a block longer than its axis": ("D21", "int4[4,6] float32[4,1]", {"block_size": 100}, B(1, 100)),
    "one block of rank 1": ("D21", "int4[6] float32[1]", {"axis": 0, "block_size": 6}, B(0, 6)),
    "block_size 0 is none": ("D21", "int8[4,6] float32[6]", {"block_size": 0}, A(1)),
    "block_size before 21 is no attribute": ("D19", "int8[4,6] float32[6]", {"block_size": 3}, A(1)),
    "x of unknown rank": ("D13", "int8 float32[6]", {}, A(1)),
    "x of unknown rank, axis from the end": ("D13", "int8 float32[6]", {"axis": -1}, A(-1)),
    "x of unknown sizes": ("D13", "int8[?,?] float32[6]", {}, A(1)),
    "a vector of unknown length": ("D13", "int8[4,6] float32[?]", {"axis": 0}, A(0)),
    "a vector of unknown length, axis out of range": ("D13", "int8[4] float32[?]", {}, T),
    "scale of unknown rank": ("D13", "int8[4,6] float32", {"axis": -2}, ByScale(0)),
    "scale of unknown rank, axis out of range": ("D13", "int8[4] float32", {}, T),
    "both of unknown rank": ("D13", "int8 float32", {"axis": -1}, ByScale(-1)),
    "blocks, scale of unknown rank": ("D21", "int4[4,6] float32", {"block_size": 3}, B(1, 3)),
    "blocks, x of unknown rank": ("D21", "int4 float32[4,2]", {"block_size": 3}, B(1, 3)),
    "blocks of unknown sizes": ("D21", "int4[?,6] float32[4,?]", {"block_size": 3}, B(1, 3)),
    "zero point [1] beside scale []": ("D13", "int8[4,6] float32[] int8[1]", {}, T),
    "rank 0": ("D13", "int8[] float32[]", {}, T),
    "no elements": ("D13", "int8[0,6] float32[0]", {"axis": 0}, A(0)),
}
MISFITS: dict[str, tuple[str, str, dict[str, int]]] = {
    "axis out of range": ("D13", "int8[4,6] float32[6]", {"axis": 2}),
    "axis out of range from the end": ("D13", "int8[4,6] float32[6]", {"axis": -3}),
    "wrong length": ("D13", "int8[4,6] float32[5]", {}),
    "rank 1, default axis": ("D13", "int8[4] float32[4]", {}),
    "scale [1,1]": ("D13", "int8[4,6] float32[1,1]", {}),
    "rank 2 without block_size": ("D21", "int4[4,6] float32[4,2]", {}),
    "block_size with a scalar": ("D21", "int4[4,6] float32[]", {"block_size": 3}),
    "block_size -1": ("D21", "int4[4,6] float32[4,2]", {"block_size": -1}),
    "more blocks than there are": ("D21", "int4[4,6] float32[4,3]", {"block_size": 3}),
    "two blocked axes": ("D21", "int4[4,6] float32[2,2]", {"block_size": 3}),
    "another size elsewhere": ("D21", "int4[4,6] float32[5,2]", {"block_size": 3}),
    "blocks, axis out of range": ("D21", "int4[4,6] float32[4,2]", {"axis": 2, "block_size": 3}),
    "blocks, scale of unknown rank, axis out of range": ("D21", "int4[4,6] float32", {"axis": 2, "block_size": 3}),
}


@pytest.mark.parametrize(("version", "operands", "attributes", "expected"), GRANULARITIES.values(), ids=GRANULARITIES.keys())
def test_granularity(version: str, operands: str, attributes: dict[str, int], expected: Granularity | None) -> None:
    assert read(spelled(operands, attributes), row(version)).granularity == expected


@pytest.mark.parametrize(("version", "operands", "attributes"), MISFITS.values(), ids=MISFITS.keys())
def test_shapes_that_mean_nothing(version: str, operands: str, attributes: dict[str, int]) -> None:
    assert read(spelled(operands, attributes), row(version)).granularity is None


MEANINGS: dict[str, tuple[str, str, dict[str, int], str]] = {
    "default is uint8": ("Q13", "float32[4] float32[]", {}, "float32 to uint8, per tensor, float32 scale"),
    "zero point's type": ("Q13", "float32[4] float32[] int8[]", {}, "float32 to int8, per tensor, float32 scale"),
    "output_dtype": ("Q21", "float32[4] float32[]", {"output_dtype": 22}, "float32 to int4, per tensor, float32 scale"),
    "output_dtype before 21 is no attribute": (
        "Q19",
        "float32[4] float32[]",
        {"output_dtype": 3},
        "float32 to uint8, per tensor, float32 scale",
    ),
    "zero point against output_dtype": (
        "Q21",
        "float32[4] float32[] int8[]",
        {"output_dtype": 22},
        "float32 to int8, per tensor, float32 scale",
    ),
    "saturate": (
        "Q19",
        "float32[4] float32[] float8e5m2[]",
        {"saturate": 0},
        "float32 to float8e5m2, per tensor, float32 scale, not saturating",
    ),
    "saturate on integers": ("Q19", "float32[4] float32[] int8[]", {"saturate": 0}, "float32 to int8, per tensor, float32 scale"),
    "saturate before 19 is no attribute": (
        "Q13",
        "float32[4] float32[] int8[]",
        {"saturate": 0},
        "float32 to int8, per tensor, float32 scale",
    ),
    "float16 at 22": ("Q22", "float16[4] float16[] int8[]", {}, "float16 to int8, per tensor, float16 scale, divided in float32"),
    "float16 at 23": ("Q23", "float16[4] float16[] int8[]", {}, "float16 to int8, per tensor, float16 scale"),
    "float16 at 23 with precision": (
        "Q23",
        "float16[4] float16[] int8[]",
        {"precision": 1},
        "float16 to int8, per tensor, float16 scale, divided in float32",
    ),
    "precision at 22 is no attribute": ("Q22", "float32[4] float32[]", {"precision": 10}, "float32 to uint8, per tensor, float32 scale"),
    "float32 x, float16 scale": ("Q23", "float32[4] float16[] int8[]", {}, "float32 to int8, per tensor, float16 scale"),
    "e8m0 scale": ("Q24", "float32[4] float8e8m0[] int8[]", {}, "float32 to int8, per tensor, float8e8m0 scale, divided in float32"),
    "int32 scale": ("Q23", "int32[4] int32[] int8[]", {}, "int32 to int8, per tensor, int32 scale, divided in float32"),
    "com.microsoft float16": ("QM", "float16[4] float16[] int8[]", {}, "float16 to int8, per tensor, float16 scale, divided in float32"),
    "unknown scale at 22": ("Q22", "float32[4] ?[] int8[]", {}, "float32 to int8, per tensor, ? scale, divided in float32"),
    "unknown scale at 23": ("Q23", "float32[4] ?[] int8[]", {}, "float32 to int8, per tensor, ? scale"),
    "unknown x": ("Q23", "?[4] float32[] int8[]", {}, "? to int8, per tensor, float32 scale"),
    "unknown zero point": ("Q23", "float32[4] float32[] ?[]", {}, "float32 to ?, per tensor, float32 scale"),
    "dequantize": ("D21", "int4[4] float16[]", {}, "int4 to float16, per tensor, float16 scale"),
    "dequantize with output_dtype": ("D23", "int4[4] float16[]", {"output_dtype": 1}, "int4 to float32, per tensor, float16 scale"),
    "output_dtype 0 counts as absent": ("D23", "int4[4] float16[]", {"output_dtype": 0}, "int4 to float16, per tensor, float16 scale"),
    "output_dtype at 21 is no attribute": ("D21", "int4[4] float16[]", {"output_dtype": 1}, "int4 to float16, per tensor, float16 scale"),
    "e8m0 scale without output_dtype": ("D24", "int4[4] float8e8m0[]", {}, "int4 to float8e8m0, per tensor, float8e8m0 scale"),
}


@pytest.mark.parametrize(("version", "operands", "attributes", "expected"), MEANINGS.values(), ids=MEANINGS.keys())
def test_read(version: str, operands: str, attributes: dict[str, int], expected: str) -> None:
    assert str(read(spelled(operands, attributes), row(version))) == expected


F32, F16, BF16, I8, U8, I4 = dtypes.FLOAT, dtypes.FLOAT16, dtypes.BFLOAT16, dtypes.INT8, dtypes.UINT8, dtypes.INT4


def quantized(
    storage: ElementType,
    where: Granularity = T,
    *,
    x: ElementType = F32,
    scale: ElementType = F32,
    compute: ElementType = F32,
    saturate: bool = True,
) -> Meaning:
    return Meaning("quantize", storage, x, scale, where, compute, saturate)


def dequantized(storage: ElementType, where: Granularity = T, *, scale: ElementType = F32, y: ElementType = F32) -> Meaning:
    return Meaning("dequantize", storage, y, scale, where)


WRITTEN: dict[str, tuple[str, Meaning, str, dict[str, int]]] = {
    "per tensor": ("Q13", quantized(I8), "float32[4,6] float32[] int8[]", {}),
    "per axis": ("Q13", quantized(I8, A(1)), "float32[4,6] float32[6] int8[6]", {"axis": 1}),
    "by scale": ("Q13", quantized(I8, ByScale(0)), "float32[4,6] float32 int8", {"axis": 0}),
    "blocks": ("D21", dequantized(I4, B(0, 2)), "int4[4,6] float32[2,6]", {"axis": 0, "block_size": 2}),
    "output_dtype without zero point": ("Q21", quantized(I4), "float32[4,6] float32[]", {"output_dtype": 22}),
    "no output_dtype for uint8": ("Q21", quantized(U8), "float32[4,6] float32[]", {}),
    "no output_dtype beside a zero point": ("Q21", quantized(I4), "float32[4,6] float32[] int4[]", {}),
    "saturate": ("Q19", quantized(dtypes.FLOAT8E5M2, saturate=False), "float32[4] float32[] float8e5m2[]", {"saturate": 0}),
    "precision": ("Q23", quantized(I8, x=F16, scale=F16), "float16[4] float16[] int8[]", {"precision": 1}),
    "no precision needed at 22": ("Q22", quantized(I8, x=F16, scale=F16), "float16[4] float16[] int8[]", {}),
    "no precision needed at 23": ("Q23", quantized(I8, x=F16, scale=F16, compute=F16), "float16[4] float16[] int8[]", {}),
    "precision bfloat16": ("Q23", quantized(I8, compute=BF16), "float32[4] float32[] int8[]", {"precision": 16}),
    "output_dtype of a dequantize": ("D23", dequantized(I4, scale=F16), "int4[4] float16[]", {"output_dtype": 1}),
    "com.microsoft": ("QM", quantized(dtypes.INT16, A(0)), "float32[4] float32[4] int16[4]", {"axis": 0}),
}
UNWRITTEN: dict[str, tuple[str, Meaning, str, list[str]]] = {
    "float16 division at 22": (
        "Q22",
        quantized(I8, x=F16, scale=F16, compute=F16),
        "float16[4] float16[] int8[]",
        ["ai.onnx QuantizeLinear-21 would mean float16 to int8, per tensor, float16 scale, divided in float32"],
    ),
    "int8 without zero point at 13": (
        "Q13",
        quantized(I8),
        "float32[4] float32[]",
        ["ai.onnx QuantizeLinear-13 would mean float32 to uint8, per tensor, float32 scale"],
    ),
    "saturation off, com.microsoft": (
        "QM",
        quantized(I8, saturate=False),
        "float32[4] float32[] int8[]",
        ["com.microsoft QuantizeLinear-1 would mean float32 to int8, per tensor, float32 scale"],
    ),
    "shapes that say otherwise": (
        "D13",
        dequantized(I8, A(1)),
        "int8[4,6] float32[1]",
        ["ai.onnx DequantizeLinear-13 would mean int8 to float32, per tensor, float32 scale"],
    ),
    "rejected": ("D13", dequantized(I4), "int4[4] float32[]", ["ai.onnx DequantizeLinear-13 has no type int4 (from 21 on)"]),
}  # fmt: skip


@pytest.mark.parametrize(("version", "meaning", "operands", "expected"), WRITTEN.values(), ids=WRITTEN.keys())
def test_write(version: str, meaning: Meaning, operands: str, expected: dict[str, int]) -> None:
    spelling = spelled(operands, {})
    assert write(meaning, spelling.x, spelling.scale, spelling.zero_point, row(version)) == expected


@pytest.mark.parametrize(("version", "meaning", "operands", "reasons"), UNWRITTEN.values(), ids=UNWRITTEN.keys())
def test_what_cannot_be_written(version: str, meaning: Meaning, operands: str, reasons: list[str]) -> None:
    spelling = spelled(operands, {})
    assert write(meaning, spelling.x, spelling.scale, spelling.zero_point, row(version)) == reasons


@st.composite
def spellings(draw: st.DrawFn) -> tuple[Spelling, Row]:
    """A node as some row allows it, its operands of fitting shapes."""
    where: Row = draw(st.sampled_from(rows()))
    of = lambda types: draw(st.sampled_from(sorted(types, key=lambda t: t.code)))  # noqa: E731
    shape = tuple(draw(st.lists(st.integers(1, 7), min_size=1, max_size=4)))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    kinds = ["tensor", *(["axis"] if where.vector else []), *(["blocks"] if where.blocks else [])]
    kind, block = draw(st.sampled_from(kinds)), draw(st.integers(1, 9))
    sizes = {
        "tensor": (),
        "axis": (shape[axis],),
        "blocks": tuple(-(-n // block) if d == axis % len(shape) else n for d, n in enumerate(shape)),
    }
    attributes: dict[str, int] = {}
    if kind != "tensor":
        attributes["axis"] = axis
    if kind == "blocks":
        attributes["block_size"] = block
    storage, scale = of(where.storage), of(where.scale)
    real = scale if where.linked else of(where.expressed)
    if where.kind == "dequantize":
        assume(where.output_dtype or where.linked or real is scale)
        if where.output_dtype and real is not scale:
            attributes["output_dtype"] = real.code
        x, codes = Operand(storage, shape), storage
    else:
        attributes |= _quantize_attributes(draw, where, storage)
        x, codes = Operand(real, shape), storage
    has_zero = where.kind == "dequantize" or "output_dtype" not in attributes
    zero = Operand(codes, sizes[kind]) if has_zero and (draw(st.booleans()) or where.kind == "quantize") else None
    return Spelling(attributes, x, Operand(scale, sizes[kind]), zero), where


def _quantize_attributes(draw: st.DrawFn, where: Row, storage: ElementType) -> dict[str, int]:
    found: dict[str, int] = {}
    if where.output_dtype and draw(st.booleans()):
        found["output_dtype"] = storage.code
    if where.saturate and draw(st.booleans()):
        found["saturate"] = 0
    if where.precision and draw(st.booleans()):
        found["precision"] = draw(st.sampled_from([1, 10, 16]))
    return found


@given(spellings())
@settings(max_examples=400, deadline=None)
def test_what_is_read_can_be_written_back(drawn: tuple[Spelling, Row]) -> None:
    spelling, where = drawn
    meaning = read(spelling, where)
    assert meaning.granularity is not None
    written = write(meaning, spelling.x, spelling.scale, spelling.zero_point, where)
    assert isinstance(written, dict), written
    assert read(Spelling(written, spelling.x, spelling.scale, spelling.zero_point), where) == meaning
    assert written.keys() <= where.attributes


@given(spellings(), st.sampled_from(rows()))
@settings(max_examples=400, deadline=None)
def test_another_version_writes_the_same_meaning_or_none(drawn: tuple[Spelling, Row], other: Row) -> None:
    spelling, where = drawn
    assume(other.kind == where.kind)
    meaning = read(spelling, where)
    written = write(meaning, spelling.x, spelling.scale, spelling.zero_point, other)
    if isinstance(written, dict):
        assert read(Spelling(written, spelling.x, spelling.scale, spelling.zero_point), other) == meaning
        assert written.keys() <= other.attributes
    else:
        assert written
        assert all(written)


def _newest(kind: Kind) -> Any:
    return row_at("ai.onnx", kind, 28)


@given(spellings())
@settings(max_examples=200, deadline=None)
def test_the_newest_version_writes_whatever_an_older_one_means(drawn: tuple[Spelling, Row]) -> None:
    """Save that it needs the zero point's type or ``output_dtype``, which `write` gives itself."""
    spelling, where = drawn
    assume(where.dialect == "ai.onnx")
    assert isinstance(write(read(spelling, where), spelling.x, spelling.scale, spelling.zero_point, _newest(where.kind)), dict)
