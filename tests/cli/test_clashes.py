from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from qdqtool.cli.clashes import require_apart, require_file, same
from qdqtool.errors import Usage
from tests.conftest import Run


@pytest.fixture
def model(fixtures: Path, tmp_path: Path) -> Path:
    for name in ("external_21.onnx", "external_21.bin"):
        shutil.copy(fixtures / name, tmp_path)
    return tmp_path / "external_21.onnx"


def told(file: Path, models: list[Path], outputs: tuple[Path | None, ...] = ()) -> str:
    with pytest.raises(Usage) as caught:
        require_apart({"--report": file}, models, outputs)
    assert (caught.value.code, caught.value.where) == ("report-is-model", str(file))
    return caught.value.message.removeprefix("--report would overwrite ")


def test_models_and_their_data(model: Path) -> None:
    assert told(model, [model]) == "the model"
    assert told(model.with_suffix(".bin"), [model]) == "the data of a model"


def test_models_below_a_folder(model: Path) -> None:
    assert told(model, [model.parent]) == "the model"
    assert told(model.with_suffix(".bin"), [model.parent]) == "the data of a model"


def test_what_will_be_written(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    assert told(out, [model], (out, None)) == "the result"
    assert told(tmp_path / "out.onnx.data", [model], (out,)) == "the data of the result"
    assert told(tmp_path / "w.bin", [model], (out, tmp_path / "w.bin")) == "the result"


def test_the_data_of_a_model_that_is_replaced(model: Path, tmp_path: Path) -> None:
    assert told(model.with_suffix(".bin"), [], (model,)) == "the data of a model"


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_other_names_of_the_same_file(model: Path, tmp_path: Path, link: Callable[[Path, Path], None]) -> None:
    link(model, tmp_path / "other")
    assert told(tmp_path / "other", [model]) == "the model"
    assert told(tmp_path / "x" / ".." / model.name, [model]) == "the model"


def test_everything_else_is_free(model: Path, tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text("{}", encoding="utf-8")
    for file in (tmp_path / "old.json", tmp_path / "new.json", Path("-"), None):
        require_apart({"--report": file}, [model, tmp_path / "missing.onnx", None], (tmp_path / "out.onnx",))


def test_a_hyphen_names_no_file() -> None:
    require_file("-o", Path("out.onnx"))
    require_file("-o", None)
    with pytest.raises(Usage, match="-o writes a file"):
        require_file("-o", Path("-"))


@pytest.mark.parametrize("options", [["--fix", "--fixed", "-"], ["--write-baseline", "-"]])
def test_validate_writes_models_and_baselines_to_files(qdqtool: Callable[..., Run], tmp_path: Path, options: list[str]) -> None:
    run = qdqtool("validate", "fixtures/conv_13.onnx", *options)
    assert (run.status, run.out) == (2, "")
    assert "[output-is-stdout]" in run.err
    assert not (tmp_path / "-").exists()


def test_findings_to_stdout(qdqtool: Callable[..., Run], tmp_path: Path) -> None:
    plain = qdqtool("validate", "fixtures/conv_13.onnx", "--format", "json")
    assert plain.out.startswith("{")
    assert qdqtool("validate", "fixtures/conv_13.onnx", "--format", "json=-") == plain
    assert qdqtool("validate", "fixtures/conv_13.onnx", "--format", "json", "--output", "-") == plain
    assert not (tmp_path / "-").exists()


def test_same(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    assert same(tmp_path / "a", tmp_path / "." / "a")
    assert same(tmp_path / "b", tmp_path / "c" / ".." / "b")
    assert not same(tmp_path / "a", tmp_path / "b")


def test_a_report_that_cannot_be_written_does_not_hide_the_model(qdqtool: Callable[..., Run], tmp_path: Path) -> None:
    (tmp_path / "record.json").symlink_to("nowhere/record.json")
    run = qdqtool("convert", "fixtures/conv_13.onnx", "-o", "out.onnx", "--opset", "21", "--no-check", "--json", "record.json")
    assert (run.status, run.out) == (2, "")
    assert run.err.startswith("error: out.onnx was written, the report could not be  [report-not-written]\n  where      record.json\n")
    assert (tmp_path / "out.onnx").stat().st_size
    assert "the report could not be written" in qdqtool("inspect", "out.onnx", "--json", "record.json").err


def test_a_report_does_not_replace_data_just_written(qdqtool: Callable[..., Run], tmp_path: Path) -> None:
    command = ["convert", "fixtures/external_21.onnx", "-o", "out.onnx", "--opset", "23", "--no-check"]
    assert qdqtool(*command).status == 0
    data = (tmp_path / "external_21.bin").read_bytes()
    for name in ("out.onnx", "external_21.bin"):
        (tmp_path / name).unlink()
    run = qdqtool(*command, "--json", "external_21.bin")
    assert run.status == 2
    assert "out.onnx was written, the report could not be" in run.err
    assert (tmp_path / "external_21.bin").read_bytes() == data
