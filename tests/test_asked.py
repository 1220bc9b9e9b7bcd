"""Arguments of the Python API that make no sense."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest

import qdqtool
from qdqtool.errors import Usage


@pytest.fixture
def model(fixtures: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(fixtures / "opset_13.onnx", tmp_path))


@pytest.mark.parametrize(
    "call",
    [
        lambda model: qdqtool.convert(model, opset="13"),
        lambda model: qdqtool.convert(model, opset=True),
        lambda model: qdqtool.convert(model, opset=17, prefer="speed"),
        lambda model: qdqtool.convert(model, to="ai.onnx", weights="across"),
        lambda model: qdqtool.convert(model, to="ai.onnx", codes="both"),
        lambda model: qdqtool.validate(model, fail_on="never"),
    ],
)
def test_wrong_arguments(model: Path, call: Callable[[Any], Any]) -> None:
    with pytest.raises(Usage) as error:
        call(model)
    assert error.value.code == "wrong-argument"


def test_one_word_is_a_list_of_one(model: Path) -> None:
    assert qdqtool.validate(model, select="QDQ2", exclude="nothing").ok
    assert qdqtool.compare(model, runtimes="ort", optimized=True).ok


@pytest.mark.parametrize("save", [False, True])
def test_a_result_replaces_its_input_only_on_request(model: Path, save: bool) -> None:
    before = model.read_bytes()
    link = model.with_name("link.onnx")
    link.hardlink_to(model)
    for convert in (qdqtool.convert, qdqtool.fold):
        target: dict[str, Any] = {"opset": 17} if convert is qdqtool.convert else {}
        with pytest.raises(Usage, match="the output is the input"):
            convert(model, **target).save(link) if save else convert(model, output=link, **target)
    assert model.read_bytes() == before
    if save:
        qdqtool.convert(model, opset=17).save(model, in_place=True)
    else:
        qdqtool.convert(model, opset=17, output=model, in_place=True)
    assert {entry.version for entry in onnx.load(model).opset_import if not entry.domain} == {17}
