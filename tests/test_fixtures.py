"""The frozen models are what their script builds, valid, and small."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from fixtures import build


def test_the_folder_holds_what_the_script_builds(fixtures: Path) -> None:
    built = build.files()
    found = (path for path in fixtures.rglob("*") if path.suffix in (".onnx", ".bin"))
    assert {path.relative_to(fixtures).as_posix(): path.read_bytes() for path in found} == built
    assert sum(map(len, built.values())) < 500_000


@pytest.mark.parametrize("name", sorted(name for name in build.files() if name.endswith(".onnx")))
def test_a_fixture_is_a_valid_model(fixtures: Path, name: str) -> None:
    onnx.checker.check_model(fixtures / name, full_check=True)


def test_there_is_a_fixture_for_every_version_of_quantize_and_dequantize() -> None:
    from qdqtool.capabilities import rows

    wanted = {f"opset_{row.version}.onnx" for row in rows() if row.dialect == "ai.onnx"}
    assert wanted <= set(build.files())
