from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import onnx_ir
import pytest
from onnx import ModelProto

import qdqtool
from qdqtool import Finding, Validation, api, targets, validate
from qdqtool.errors import CheckFailed, QdqtoolError, Unreadable, Usage
from tests.conftest import ROOT
from tests.linting.models import plain, zero_scale

ZERO = "QDQ201"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sound model, a broken one, and a file that is none."""
    (tmp_path / "a.onnx").write_bytes(plain().SerializeToString())
    (tmp_path / "b.onnx").write_bytes(zero_scale(plain()).SerializeToString())
    (tmp_path / "c.onnx").write_bytes(b"")
    return tmp_path


def found(validation: Validation) -> list[tuple[str, str]]:
    return [(Path(f.file).name, f.code) for f in validation.findings]


def test_files_and_folders(folder: Path) -> None:
    result = validate(folder)
    assert [Path(file).name for file in result.files] == ["a.onnx", "b.onnx", "c.onnx"]
    assert found(result) == [("b.onnx", ZERO)]
    assert [(Path(file).name, error.code) for file, error in result.errors.items()] == [("c.onnx", "empty-file")]
    assert (result.ok, result.status, result.target) == (False, 2, str(targets.profile("ort")))
    assert found(validate([folder / "b.onnx", str(folder / "a.onnx")])) == [("b.onnx", ZERO)]


def test_several_processes_say_the_same(folder: Path) -> None:
    one, two = validate(folder), validate(folder, jobs=2)
    assert two.to_dict() == one.to_dict()
    assert two.findings == one.findings


@pytest.mark.parametrize(
    "error",
    [Unreadable("code", "message", where="here", why="so", hint="go"), Usage("code", "message"), CheckFailed("message", None, hint="go")],
)
def test_errors_travel_between_processes(error: QdqtoolError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.status, copy.code) == (type(error), str(error), error.status, error.code)


def test_models_in_memory() -> None:
    model = zero_scale(plain())
    before = model.SerializeToString()
    for given in (model, onnx_ir.from_proto(model)):
        result = validate(given)
        assert (result.files, [(f.code, f.file, f.at) for f in result.findings]) == (("",), [(ZERO, "", "main / quantize")])
    assert model.SerializeToString() == before


def test_external_data_of_a_model_in_memory(fixtures: Path) -> None:
    model = ModelProto.FromString((fixtures / "external_21.onnx").read_bytes())
    assert validate(model, base_dir=fixtures).ok


def test_selection_and_limits(folder: Path) -> None:
    sound = folder / "b.onnx"
    assert validate(sound, ignore=[ZERO]).ok
    assert validate(sound, select=["scale-not-finite"]).ok
    assert validate(sound, per_file_ignores={"b.onnx": ["QDQ2"]}).ok
    assert validate(folder, exclude=["b.onnx", "c.onnx"]).ok
    with pytest.raises(Usage, match="'QDQ9' is no rule"):
        validate(sound, select=["QDQ9"])
    with pytest.raises(Usage, match="'other' is no target"):
        validate(sound, target="other")


def test_what_fails_is_asked_for(folder: Path) -> None:
    (folder / "b.onnx").write_bytes(plain().SerializeToString().replace(b"dequantize", b"dequantize"))
    model = plain()
    model.graph.initializer[1].dims.append(1)
    result = validate(model)
    assert {f.severity for f in result.findings} == {"warning"}
    assert [validate(model, fail_on=limit).ok for limit in ("error", "warning", "info")] == [True, False, False]


def test_settings_of_the_project(folder: Path) -> None:
    (folder / "qdqtool.toml").write_text('ignore = ["QDQ2"]\nexclude = ["c.onnx"]\nfor = "ort@1.20"\n')
    assert validate(folder).status == 2
    result = validate(folder, config=folder)
    assert (result.ok, result.target) == (True, "ort@1.20")
    assert found(validate(folder, config=folder / "qdqtool.toml", ignore=[])) == [("b.onnx", ZERO)]


@pytest.mark.parametrize(("name", "damaged"), [(b"dequantize", b"dequanti\xff\xfe"), (b"DequantizeLinear", b"DequantizeLine\xff\xfe")])
def test_damaged_names_are_findings_at_most_and_nothing_is_mended(folder: Path, name: bytes, damaged: bytes) -> None:
    (folder / "a.onnx").write_bytes(plain().SerializeToString().replace(name, damaged))
    result = validate(folder / "a.onnx")
    assert result.errors == {}
    assert json.dumps(result.to_dict())
    (error,) = validate(folder / "a.onnx", fix=True).errors.values()
    assert (error.code, error.why) == ("damaged-model", "a name of a node, value, operator or attribute is no UTF-8 text")


def test_broken_external_data_is_a_finding_not_an_error(tmp_path: Path, fixtures: Path) -> None:
    (tmp_path / "external_21.onnx").write_bytes((fixtures / "external_21.onnx").read_bytes())
    missing = validate(tmp_path / "external_21.onnx")
    (tmp_path / "external_21.bin").write_bytes(bytes(10))
    short = validate(tmp_path / "external_21.onnx")
    for result in (missing, short):
        assert (result.errors, result.status) == ({}, 1)
        assert all(f.code.startswith("QDQ1") for f in result.findings)


def test_the_record_is_plain(folder: Path) -> None:
    record = validate(folder).to_dict()
    assert json.loads(json.dumps(record)) == record
    assert record["statistics"] == [{"code": ZERO, "rule": "scale-zero", "severity": "error", "findings": 1, "files": 1}]
    assert record["errors"][0]["code"] == "empty-file"
    assert record["severities"] == {"error": 1, "warning": 0, "info": 0}


def test_rules_describe_themselves() -> None:
    found = api.rules()
    assert [rule.code for rule in found] == sorted({rule.code for rule in found})
    assert all(rule.summary.endswith(".") and "\n" not in rule.summary and rule.summary in " ".join(rule.page.split()) for rule in found)
    assert {rule.code[3]: rule.group for rule in found} == {"1": "specification", "2": "values", "3": "patterns", "4": "runtimes"}
    assert {rule.severity for rule in found} <= {"error", "warning", "info"}
    assert {rule.code for rule in validate(zero_scale(plain())).rules} == {ZERO}


def test_public_names() -> None:
    assert (qdqtool.Finding, qdqtool.Validation) == (Finding, Validation)


@pytest.mark.parametrize("options", [["validate"], ["validate", "--diff"], ["validate", "--format", "json"], ["rules"]])
def test_linting_needs_no_runtime_and_no_converter(options: list[str]) -> None:
    heavy = ("onnxruntime", "qdqtool.check", "qdqtool.pipeline", "qdqtool.plan.build", "qdqtool.lowerings", "tomllib", "multiprocessing")
    paths = ["fixtures/conv_13.onnx"] if options[0] == "validate" else []
    report = f"import sys; print(sorted({set(heavy)!r} & set(sys.modules)), file=sys.stderr)"
    # The project's own settings are not meant: reading some takes a TOML parser.
    code = f"from qdqtool.cli import main; status = main({[*options, *paths]!r}); {report}; sys.exit(status)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert run.stderr in ("[]\n", "['tomllib']\n")
