"""``check_with``: the result of a conversion in another runtime, against the original in ONNX Runtime."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

import qdqtool
from qdqtool import result
from qdqtool.check import Report
from qdqtool.errors import CheckFailed, Usage
from qdqtool.model.stage import Staged
from tests.check.builders import saved
from tests.comparing import networks
from tests.conftest import Run

needs_openvino = pytest.mark.skipif(find_spec("openvino") is None, reason="openvino is not installed: pip install 'qdqtool[openvino]'")


def test_a_conversion_in_another_interpreter() -> None:
    done = qdqtool.convert(networks.convolutions(), opset=21, check_with_python=sys.executable)
    assert done.elsewhere is not None
    assert (done.elsewhere.verdict, done.elsewhere.runs[0].second) == ("equal", f"ort ({sys.executable})")
    assert done.to_dict()["elsewhere"]["verdict"] == "equal"


def test_a_fold_in_another_interpreter() -> None:
    done = qdqtool.fold(networks.blocks(), weights=True, check_with=["ort"], check_with_python=sys.executable)
    assert done.elsewhere is not None
    assert done.elsewhere.ok


def test_without_the_wish_there_is_nothing() -> None:
    done = qdqtool.convert(networks.convolutions(), opset=21)
    assert done.elsewhere is None
    assert "elsewhere" not in done.to_dict()


@needs_openvino
def test_a_conversion_in_openvino() -> None:
    done = qdqtool.convert(networks.blocks(), opset=23, check_with=["openvino"])
    assert done.elsewhere is not None
    assert done.elsewhere.ok


def test_a_difference_there_refuses_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check in this process is made blind, so that only the other one can see the fault."""
    staged = result.Result.stage

    def spoilt(self: result.Result, *arguments: Any) -> Staged:
        made = staged(self, *arguments)
        model = ModelProto.FromString(made.model.read_bytes())
        tensor = next(tensor for tensor in model.graph.initializer if tensor.name == "ws0")
        tensor.raw_data = (np.frombuffer(tensor.raw_data, np.float32) * np.float32(2)).tobytes()
        made.model.write_bytes(model.SerializeToString())
        return made

    monkeypatch.setattr(result.Result, "stage", spoilt)
    monkeypatch.setattr("qdqtool.delivery.check", lambda *arguments, **options: Report())
    path = saved(networks.convolutions(), tmp_path / "in.onnx")
    with pytest.raises(CheckFailed, match=r"first at main / conv0/w: scale ws0: all 8 are 2 x as large"):
        qdqtool.convert(path, output=tmp_path / "out.onnx", opset=21, check_with_python=sys.executable)
    assert not (tmp_path / "out.onnx").exists()


@pytest.mark.parametrize("text", ["#!/bin/sh\necho No module named numpy >&2\nexit 1\n", "no program"])
def test_an_interpreter_that_cannot_run_is_the_users_error(text: str, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(text)
    python.chmod(0o755)
    with pytest.raises(Usage, match="cannot run models") as caught:
        qdqtool.convert(networks.convolutions(), opset=21, output=tmp_path / "out.onnx", check_with_python=python)
    assert caught.value.hint == "name a python executable that has numpy and onnxruntime"
    assert "No module named numpy" in caught.value.why or "Exec format error" in caught.value.why
    assert not (tmp_path / "out.onnx").exists()


def test_the_report_names_the_runtime(qdqtool: Callable[..., Run]) -> None:
    run = qdqtool("convert", "fixtures/conv_13.onnx", "-o", "out.onnx", "--opset", 21, "--check-with-python", sys.executable)
    assert run.status == 0
    assert f"in ort ({sys.executable}): equal" in " ".join(run.out.split())


def test_it_is_no_part_of_a_run_without_check(qdqtool: Callable[..., Run]) -> None:
    run = qdqtool("convert", "fixtures/conv_13.onnx", "-o", "out.onnx", "--opset", 21, "--check-with", "openvino", "--no-check")
    assert run.status == 2
    assert "--no-check and --check-with exclude each other" in run.err
