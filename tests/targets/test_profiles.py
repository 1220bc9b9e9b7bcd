"""The profiles: names and versions, and that the measured table is sound."""

from __future__ import annotations

import itertools
import zlib
from typing import Any

import pytest
from onnx import defs

from qdqtool import capabilities, dtypes
from qdqtool.capabilities import Row
from qdqtool.errors import Usage
from qdqtool.quantization import Blocked, Meaning, PerTensor
from qdqtool.targets import all_targets, ort, profile
from qdqtool.targets.profile import EVERY, foreign_gap, gap, narrowed, takes
from tests.time_machine import forms
from tests.time_machine.worker import answer

VERSIONS = ort.versions()
TENTH = 10


def row(dialect: str, kind: Any, version: int) -> Row:
    found = capabilities.row_at(dialect, kind, version)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "version", "opsets", "source"),
    [
        ("ort@1.17", "1.17", (7, 20), "measured in onnxruntime 1.17.3"),
        ("ort@1.18", "1.18", (7, 20), "measured in onnxruntime 1.17.3"),
        ("ort@1.18.1", "1.18.1", (7, 20), "measured in onnxruntime 1.17.3"),
        ("ort@1.31.0", "1.31.0", (7, 26), "measured in onnxruntime 1.26.0"),
        ("ort", VERSIONS[-1], (7, 28), "measured in onnxruntime 1.32.0"),
        ("opset@17", "17", (17, 17), ""),
        ("opset", str(defs.onnx_opset_version()), (28, 28), ""),
    ],
)
def test_a_version_means_the_nearest_lower_measured_one(text: str, version: str, opsets: tuple[int, int], source: str) -> None:
    found = profile(text)
    assert (found.version, found.opsets, found.source) == (version, opsets, source)
    assert str(found) == f"{text.partition('@')[0]}@{version}"


@pytest.mark.parametrize("text", ["ort@", "ort@1.14", "ort@1.33", "ort@2.0", "ort@newest", "opset@6", "opset@99", "opset@x"])
def test_an_unknown_version_names_the_known_ones(text: str) -> None:
    with pytest.raises(Usage, match="no known version") as caught:
        profile(text)
    assert caught.value.code == "unknown-target"
    name = text.partition("@")[0]
    versions = all_targets()[name].versions()
    assert f"known are {versions[0]} to {versions[-1]}" in caught.value.why
    assert caught.value.hint in [f"{name}@{version}" for version in versions]


def test_modes_are_no_versions() -> None:
    with pytest.raises(Usage, match="several modes") as caught:
        profile("vitis")
    assert (caught.value.code, caught.value.hint) == ("ambiguous-target", "vitis@xint8")
    assert all(f"vitis@{mode}" in caught.value.why for mode in all_targets()["vitis"].versions())


@pytest.mark.parametrize("text", ["", "onnxruntime", "tensorflow@2", "@1.17"])
def test_an_unknown_name_lists_the_targets(text: str) -> None:
    with pytest.raises(Usage, match="is no target") as caught:
        profile(text)
    assert (
        f"litert; migraphx@7.2; onnx-mlir; openvino@2026.4; opset@7 to 28; ort@{VERSIONS[0]} to {VERSIONS[-1]}; qnn@2.7" in caught.value.why
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_rows_are_narrower_than_what_the_opset_says(version: str) -> None:
    found = profile(f"ort@{version}")
    assert found.rows
    for mine in found.rows:
        whole = row(mine.dialect, mine.kind, mine.version)
        assert whole.version == mine.version
        for column in ("storage", "expressed", "scale"):
            assert getattr(mine, column)
            assert getattr(mine, column) <= getattr(whole, column)
        assert mine.attributes <= whole.attributes
        assert mine.linked or not whole.linked
        if mine.dialect == "ai.onnx":
            assert mine.version <= found.opsets[1]


@pytest.mark.parametrize("version", VERSIONS)
def test_missing_kernels_are_of_operator_versions_that_exist(version: str) -> None:
    found = profile(f"ort@{version}")
    for op, at in found.lacking.items():
        for since, types in at.items():
            assert since <= found.opsets[1]
            assert defs.get_schema(op, since, "").since_version == since
            for name in set(types) - {EVERY}:
                assert all(dtypes.of_name(part) for part in name.split(":"))


def test_newer_wheels_load_no_less() -> None:
    known = [profile(f"ort@{version}") for version in VERSIONS]
    for older, newer in itertools.pairwise(known):
        assert older.opsets[0] == newer.opsets[0]
        assert older.opsets[1] <= newer.opsets[1]
        assert older.ir is not None
        assert newer.ir is not None
        assert older.ir[1] <= newer.ir[1]
        assert set(older.contrib["com.microsoft"]) <= set(newer.contrib["com.microsoft"])


@pytest.mark.parametrize(
    ("version", "text", "opset", "runs"),
    [
        ("1.15", "int8 float32 float32", 13, True),
        ("1.15", "int8 float32 float32", 19, False),
        ("1.17", "int8 float32 float32", 19, True),
        # It divides otherwise than later versions.
        ("1.17", "int8 float16 float16", 19, False),
        ("1.17", "int4 float32 float32", 20, False),
        ("1.19", "int4 float32 float32", 21, True),
        ("1.26", "int8 float16 float16", 23, False),
        ("1.32", "int8 float16 float16", 23, True),
        ("1.32", "int8 float16 float32", 23, True),
        ("1.32", "int8 bfloat16 float32", 23, False),
        ("1.32", "int8 float32 bfloat16", 23, False),
        ("1.32", "int8 float32 float8e8m0", 25, False),
        ("1.32", "float4e2m1 float32 float32", 25, False),
        ("1.32", "int2 float32 float32", 27, True),
        ("1.32", "int8 float32 float32", 28, False),
    ],
)
def test_what_was_measured_of_quantize(version: str, text: str, opset: int, runs: bool) -> None:
    storage, expressed, scale = map(dtypes.of_name, text.split())
    found, whole = profile(f"ort@{version}"), row("ai.onnx", "quantize", opset)
    meaning = Meaning("quantize", storage, expressed, scale, PerTensor(), dtypes.FLOAT if whole.division == "float32" else scale)
    assert takes(found, whole, meaning, [], zero_point=True, opset=opset) is runs


def test_what_the_graph_does_not_tell_counts_in_its_favour() -> None:
    meaning = Meaning("quantize", None, None, None, None, None)
    assert takes(profile("ort@1.17"), row("ai.onnx", "quantize", 19), meaning, [], zero_point=True, opset=19)
    assert not takes(profile("ort@1.15"), row("ai.onnx", "quantize", 19), meaning, [], zero_point=True, opset=19)


def test_division_in_bfloat16_and_blocks_are_judged() -> None:
    found, whole = profile("ort@1.32"), row("ai.onnx", "quantize", 23)
    divided = {
        compute: Meaning("quantize", dtypes.INT8, dtypes.FLOAT, dtypes.FLOAT, Blocked(0, 16), compute)
        for compute in (dtypes.FLOAT16, dtypes.BFLOAT16)
    }
    assert takes(found, whole, divided[dtypes.FLOAT16], ["block_size", "precision"], zero_point=True, opset=23)
    assert not takes(found, whole, divided[dtypes.BFLOAT16], ["block_size", "precision"], zero_point=True, opset=23)
    assert [r for r in narrowed(found, whole) if capabilities.reject(divided[dtypes.FLOAT16], r) == []]
    reasons = [capabilities.reject(divided[dtypes.BFLOAT16], r) for r in narrowed(found, whole)]
    assert ["ai.onnx QuantizeLinear-23 of ort@1.32 does not divide in bfloat16"] in reasons


@pytest.mark.parametrize(("version", "runs"), [("1.17", True), ("1.19", False), ("1.32", False)])
def test_output_dtype_beside_a_zero_point_breaks_the_optimizer(version: str, runs: bool) -> None:
    found, opset = profile(f"ort@{version}"), min(21, profile(f"ort@{version}").opsets[1])
    meaning = Meaning("quantize", dtypes.INT8, dtypes.FLOAT, dtypes.FLOAT, PerTensor(), dtypes.FLOAT)
    named = ["output_dtype"] if opset == 21 else []
    assert takes(found, row("ai.onnx", "quantize", opset), meaning, named, zero_point=True, opset=opset) is runs
    assert takes(found, row("ai.onnx", "quantize", opset), meaning, named, zero_point=False, opset=opset)


def test_int32_codes_are_kept_but_not_written_where_the_optimizer_breaks_them() -> None:
    old, new, whole = profile("ort@1.26"), profile("ort@1.32"), row("ai.onnx", "dequantize", 13)
    meaning = Meaning("dequantize", dtypes.INT32, dtypes.FLOAT, dtypes.FLOAT, PerTensor())
    assert takes(old, whole, meaning, [], zero_point=False, opset=13)
    assert not any(dtypes.INT32 in r.storage for r in narrowed(old, whole))
    assert any(dtypes.INT32 in r.storage for r in narrowed(new, whole))


def test_gaps_in_words() -> None:
    old = profile("ort@1.15")
    assert gap(old, "Cast", 19) == "ort@1.15 has no kernel of Cast-19"
    assert gap(old, "Cast", 13) == ""
    assert gap(old, "Mul", 14, [dtypes.FLOAT, dtypes.INT8]) == "ort@1.15 has no kernel of Mul-14 for int8"
    assert gap(old, "Mul", 14) == ""
    assert gap(old, "ConvInteger", 10, ["uint8:int8"]) == "ort@1.15 has no kernel of ConvInteger-10 for uint8:int8"
    assert foreign_gap(old, "com.microsoft", "MatMulNBits", 3, {}) == "ort@1.15 has no com.microsoft MatMulNBits"
    assert foreign_gap(old, "acme", "Special", 3, {}) == ""
    newer = profile("ort@1.19")
    assert foreign_gap(newer, "com.microsoft", "MatMulNBits", 3, {"bits": 4}) == ""
    assert foreign_gap(newer, "com.microsoft", "MatMulNBits", 3, {"bits": 8}) == "ort@1.19 has no com.microsoft MatMulNBits with bits 8"
    reason = foreign_gap(newer, "com.microsoft", "MatMulNBits", 9, {"bits": 4})
    assert reason == "ort@1.19 has no com.microsoft MatMulNBits with 9 inputs"


def held(form: forms.Form) -> bool:
    """The newest profile has a row for the form."""
    return any(
        (r.dialect, r.kind, r.version) == (form.dialect, form.kind, form.version)
        and {form.storage} <= {t.name for t in r.storage}
        and {form.expressed} <= {t.name for t in r.expressed}
        and {form.scale} <= {t.name for t in r.scale}
        and (not r.linked or form.expressed == form.scale)
        for r in profile("ort").rows or ()
    )


def sample(full: bool) -> list[forms.Form]:
    """Forms without features that the newest profile takes; a tenth of them in plain runs."""
    known = [form for form in forms.forms(28) if not form.feature and held(form)]
    return [form for form in known if full or zlib.crc32(form.id.encode()) % TENTH == 0]


def test_the_installed_runtime_runs_what_the_newest_profile_says() -> None:
    assert len(sample(full=False)) >= 15
    assert {form.id: said for form in sample(full=False) if (said := answer(forms.job(form))["error"])} == {}


@pytest.mark.full
def test_the_installed_runtime_runs_all_of_it() -> None:
    assert {form.id: said for form in sample(full=True) if (said := answer(forms.job(form))["error"])} == {}
