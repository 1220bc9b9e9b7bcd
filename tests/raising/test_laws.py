"""Lowered, then raised back to its opset, a model has the same quantization form and computes the same values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import ModelProto

import qdqtool
from qdqtool import dtypes
from qdqtool.exactness import Exactness
from qdqtool.model.load import opset_of
from tests.graphs import suite
from tests.graphs.case import Case
from tests.graphs.draft import digest
from tests.judge import Subject, judge

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures").glob("*.onnx"))
LOWER = (7, 10, 13)
SHARE = 15
CONSTANTS = ("dq-constant", "constant-reshape-dq", "dq-matmul", "dq-gemm")
Step = tuple[str, int, int]


def form(model: ModelProto) -> list[Step]:
    """Of every step: operator, bits of constant codes (0: run-time codes), number of scales."""
    tensors = {t.name: t for t in model.graph.initializer}
    found = []
    for node in model.graph.node:
        if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            codes, scale = tensors.get(node.input[0]), tensors.get(node.input[1])
            bits = 0 if codes is None else _bits(codes.data_type)
            found.append((node.op_type, bits, 0 if scale is None else _count(scale)))
    return sorted(found)


def _bits(code: int) -> int:
    found = dtypes.of_code(code)
    assert found is not None
    return found.bits


def _count(tensor: Any) -> int:
    size = 1
    for dim in tensor.dims:
        size *= dim
    return size


def lowered(model: ModelProto | Path, opset: int) -> ModelProto | None:
    try:
        found: ModelProto = qdqtool.convert(model, opset=opset, check=False).model
    except qdqtool.Refused:
        return None
    return found


def same(case: Case, opset: int) -> str:
    """What is wrong with the way down to `opset` and back; nothing when the model cannot go there."""
    original = case.model()
    down = lowered(original, opset)
    if down is None:
        return ""
    try:
        up = qdqtool.convert(down, opset=case.opset, simplify=True, check=False).model
    except qdqtool.Refused as refused:
        return str(refused)
    verdict = judge(Subject(original, case.shapes, case.id), up, case.opset, Exactness.BIT_EQUAL)
    if verdict.word not in ("exact", "lost"):
        return str(verdict)
    return "" if form(up) == form(original) else f"{form(up)} instead of {form(original)}"


def is_float(case: Case) -> bool:
    """Its codes are small floats."""
    return case.id.split("/")[1].startswith(("float8", "float6", "float4"))


def drawn(*forms: str) -> list[Case]:
    return [c for c in suite() if c.form in forms and digest(c.id) % SHARE == 0 and not c.domain]


@pytest.mark.parametrize("opset", LOWER)
@pytest.mark.parametrize("path", FIXTURES, ids=lambda p: p.stem)
def test_a_fixture_comes_back(path: Path, opset: int) -> None:
    original, source = onnx.load(path), opset_of(onnx.load(path))
    down = lowered(path, opset) if opset < source else None
    if down is None or path.stem == "opset_19" or (path.stem == "fake_quant_21" and opset == 7):
        # no way back yet: fake quantization to float8, and steps whose scale is computed, stay the arithmetic they were lowered to
        return
    up = qdqtool.convert(down, opset=source, simplify=True, require_check=True)
    if not original.functions:
        assert form(up.model) == form(original)
        assert sorted(n.op_type for n in up.model.graph.node) == sorted(n.op_type for n in original.graph.node)
    verdict = judge(Subject(onnx.load(path, load_external_data=True)), up.model, source, Exactness.VALUE_EQUAL)
    assert verdict.word in ("exact", "value", "lost"), verdict


@pytest.mark.parametrize("opset", LOWER)
@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_come_back(name: str, opset: int) -> None:
    # small floats that a Reshape moved are lowered to float32 constants, in which nobody can tell codes from numbers
    cases = [c for c in drawn(name) if c.opset > opset and not (name.startswith("constant-") and is_float(c))]
    assert {c.id: found for c in cases if (found := same(c, opset))} == {}


@pytest.mark.parametrize("opset", LOWER)
def test_pairs_of_integers_come_back(opset: int) -> None:
    cases = [c for c in drawn("pair", "q-transpose-dq") if c.opset > opset and not is_float(c)]
    assert {c.id: found for c in cases if (found := same(c, opset))} == {}


def test_what_holds_no_pattern_is_left_alone() -> None:
    for case in drawn("dq-input", "q-codes", "dq-conv", "dq-matmul"):
        model = case.model()
        if any(e in case.id for e in ("int8", "int16", "int32", "block", "ragged")):
            continue
        result = qdqtool.convert(model, opset=case.opset, simplify=True, check=False)
        assert result.model.SerializeToString(deterministic=True) == model.SerializeToString(deterministic=True), case.id


def test_raising_twice_changes_nothing_more() -> None:
    for case in drawn("dq-constant"):
        down = lowered(case.model(), 10)
        if down is not None:
            once = qdqtool.convert(down, opset=case.opset, simplify=True, check=False).model
            again = qdqtool.convert(once, opset=case.opset, simplify=True, check=False)
            assert again.changes == (), case.id


def test_without_simplify_nothing_is_raised() -> None:
    for path in FIXTURES:
        down = lowered(path, 13)
        if down is not None:
            plain = qdqtool.convert(down, opset=13, check=False)
            assert plain.changes == ()
