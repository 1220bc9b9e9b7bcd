"""Profiles that were written down from sources: versions, and that they stay within what the specification has."""

from __future__ import annotations

import pytest

import qdqtool
from qdqtool import capabilities
from qdqtool.errors import Usage
from qdqtool.targets import Profile, all_targets, convertible, profile
from qdqtool.targets.transcribed import counting
from tests.rules.case import model

OTHERS = {name: runtime for name, runtime in all_targets().items() if name not in ("ort", "opset")}
PROFILES = [found for runtime in OTHERS.values() for version in runtime.versions() or (None,) if (found := runtime.profile(version))]


@pytest.mark.parametrize(
    ("text", "opsets", "storage"),
    [
        ("tensorrt@8.4", (7, 13), "int8"),
        ("tensorrt@8.6", (7, 17), "int8"),
        ("tensorrt@9.2", (7, 19), "int8 float8e4m3fn"),
        ("tensorrt@10", (9, 20), "int8 float8e4m3fn int4"),
        ("tensorrt@10.9.0", (9, 20), "int8 float8e4m3fn int4"),
        ("tensorrt@11.2", (9, 25), "int8 float8e4m3fn int4 float4e2m1"),
        ("tensorrt", (9, 25), "int8 float8e4m3fn int4 float4e2m1"),
        ("openvino@2026.4.1", (10, 28), ""),
        ("litert", (7, 28), "int8 int32"),
        ("vitis@vint8", (7, 28), "int8"),
    ],
)
def test_a_version_means_the_nearest_lower_known_one(text: str, opsets: tuple[int, int], storage: str) -> None:
    found = profile(text)
    assert found.opsets == opsets
    if storage:
        assert {t.name for row in found.rows or () for t in row.storage} == set(storage.split())


@pytest.mark.parametrize("text", ["tensorrt@8.0", "tensorrt@ten", "openvino@2025.1", "litert@2", "vitis@int8", "coreml@16", "qnn@1"])
def test_other_versions_are_unknown(text: str) -> None:
    with pytest.raises(Usage, match="no known version") as caught:
        profile(text)
    assert caught.value.hint.partition("@")[0] == text.partition("@")[0]


@pytest.mark.parametrize(("wanted", "known"), [("10.0", "10.0"), ("10.2", "10.0"), ("11", "10.0"), ("8.9", None), ("x", None), ("", None)])
def test_versions_are_numbers_in_order(wanted: str, known: str | None) -> None:
    assert counting(("9.0", "10.0"), wanted) == known


@pytest.mark.parametrize("found", PROFILES, ids=str)
def test_rows_are_narrower_than_what_the_specification_says(found: Profile) -> None:
    assert found.source
    for row in found.rows or ():
        whole = capabilities.row_at(row.dialect, row.kind, row.version)
        assert whole is not None
        assert row.storage <= whole.storage
        assert row.scale <= whole.scale
        assert row.expressed <= whole.expressed
        assert row.attributes <= whole.attributes


@pytest.mark.parametrize("found", PROFILES, ids=str)
def test_every_row_names_its_source(found: Profile) -> None:
    assert found.cautions.rows
    for caution in found.cautions.rows:
        assert caution.source
        assert caution.evidence in ("measured", "source", "docs")
        assert caution.severity in ("error", "warning", "info")


KNOWN_IN_PART = ("migraphx", "onnx-mlir", "qnn-converter")


def test_most_are_made_for() -> None:
    assert {found.name for found in PROFILES if not found.converts} == set(KNOWN_IN_PART)
    assert all(found.binding is found.converts for found in PROFILES)


@pytest.mark.parametrize("name", KNOWN_IN_PART)
def test_convert_says_that_it_does_not_make_models_for_them(name: str) -> None:
    with pytest.raises(Usage, match=f"convert does not make models for {name}") as caught:
        convertible(name)
    assert f"validate --for {profile(name)}" in caught.value.hint
    sound = model("g (float[2] x) => (float[2] y) { y = Relu(x) }", 17)
    with pytest.raises(Usage, match="convert does not make models"):
        qdqtool.convert(sound, target=name)


def test_convert_takes_what_was_measured() -> None:
    assert convertible("ort@1.19").converts
    assert convertible("opset@17").opsets == (17, 17)
