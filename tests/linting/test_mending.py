from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from onnx import ModelProto, load

from qdqtool import api, targets
from qdqtool.errors import CheckFailed, Usage
from qdqtool.findings import Fix, Problem
from qdqtool.linting.mending import fix
from qdqtool.linting.subject import Subject
from qdqtool.model.load import Loaded
from tests.linting.models import plain, rule, shapes_differ, zero_scale

SHAPE = "QDQ135"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(shapes_differ().SerializeToString())
    return path


def renaming(code: str, old: str, new: str, *, safe: bool = True) -> Any:
    """A made-up rule that wants a node called otherwise."""

    def check(subject: Subject) -> list[Problem]:
        nodes = [node for node in subject.proto.graph.node if node.name == old]
        return [Problem(f"main / {old}", "name", fix=Fix(f"call it {new}", safe, lambda n=node: setattr(n, "name", new))) for node in nodes]

    return rule(code, check, severity="warning")


def fixed(model: ModelProto, *made_up: Any, unsafe: bool = False) -> tuple[list[str], list[str]]:
    loaded = Loaded(model, None, None)
    done = fix(loaded, targets.profile("ort"), made_up, unsafe=unsafe)
    return [f"{a.code} {a.title}" for a in done], [node.name for node in model.graph.node]


def test_fixes_go_on_until_nothing_is_left() -> None:
    chain = (renaming("QDQ903", "b", "c"), renaming("QDQ901", "quantize", "a"), renaming("QDQ902", "a", "b"))
    assert fixed(plain(), *chain) == (["QDQ901 call it a", "QDQ902 call it b", "QDQ903 call it c"], ["c", "dequantize"])


def test_fixes_that_undo_each_other_end() -> None:
    done, names = fixed(plain(), renaming("QDQ901", "quantize", "a"), renaming("QDQ902", "a", "quantize"))
    assert (len(done), names) == (8, ["quantize", "dequantize"])


def test_unsafe_fixes_are_asked_for() -> None:
    bold = renaming("QDQ901", "quantize", "a", safe=False)
    assert fixed(plain(), bold) == ([], ["quantize", "dequantize"])
    assert fixed(plain(), bold, unsafe=True) == (["QDQ901 call it a"], ["a", "dequantize"])


def test_what_the_model_silences_stays() -> None:
    model = plain()
    model.graph.node[0].metadata_props.add(key="qdqtool.ignore", value="QDQ901")
    assert fixed(model, renaming("QDQ901", "quantize", "a")) == ([], ["quantize", "dequantize"])


def test_a_file_is_mended_in_place_and_checked(model: Path) -> None:
    result = api.validate(model, fix=True, select=[SHAPE])
    assert (result.ok, result.findings) == (True, ())
    (mended,) = result.mended
    assert (mended.written, mended.check.verdict, mended.check.complete) == (model, "equal", True)
    assert {a.code for a in mended.applied} == {SHAPE}
    assert {tuple(t.dims) for t in load(model).graph.initializer} == {()}
    assert [p.name for p in model.parent.iterdir()] == ["model.onnx"]


def test_diff_changes_nothing(model: Path) -> None:
    before = model.read_bytes()
    result = api.validate(model, diff=True, select=[SHAPE])
    assert model.read_bytes() == before
    (mended,) = result.mended
    assert (mended.written, mended.check) == (None, None)
    assert "-main: quantize %q = QuantizeLinear(%x, %s, %z)" in mended.diff.splitlines()
    assert {line[0] for line in mended.diff.splitlines()} == {"-", "+"}
    assert {f.code for f in result.findings} == {SHAPE}


def test_the_result_can_go_elsewhere(model: Path, tmp_path: Path) -> None:
    before, out = model.read_bytes(), tmp_path / "out.onnx"
    result = api.validate(model, fix=True, select=[SHAPE], fixed=out)
    assert (result.files, result.findings, model.read_bytes()) == ((out.as_posix(),), (), before)
    assert result.mended[0].written == out
    with pytest.raises(Usage, match="2 models cannot all become"):
        api.validate(tmp_path, fix=True, fixed=out)


def test_nothing_to_mend_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(zero_scale(plain()).SerializeToString())
    stamp = path.stat()
    result = api.validate(path, fix=True, select=["QDQ201"])
    assert (result.mended, result.status, path.stat().st_mtime_ns) == ((), 1, stamp.st_mtime_ns)


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> str:
    """A rule whose fix claims to be safe and is not: it doubles the scale."""

    def check(subject: Subject) -> list[Problem]:
        scale = subject.proto.graph.initializer[0]
        bigger = Fix("double it", True, lambda: scale.float_data.__setitem__(0, 1.0))
        return [Problem("main / quantize", "too small", fix=bigger)] if scale.float_data[0] == 0.5 else []

    monkeypatch.setattr("qdqtool.linting.selection.all_rules", lambda: {"QDQ901": rule("QDQ901", check)})
    monkeypatch.setattr("qdqtool.linting.run.all_rules", lambda: {})
    return "QDQ901"


def test_a_fix_that_changes_results_is_not_written(model: Path, wrong: str) -> None:
    before = model.read_bytes()
    result = api.validate(model, fix=True)
    assert (result.status, model.read_bytes(), result.mended) == (3, before, ())
    error = result.errors[model.as_posix()]
    assert isinstance(error, CheckFailed)
    assert error.report.verdict == "different"


def test_an_unsafe_fix_may_change_results_and_the_report_says_so(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(subject: Subject) -> list[Problem]:
        scale = subject.proto.graph.initializer[0]
        bigger = Fix("double it", False, lambda: scale.float_data.__setitem__(0, 1.0))
        return [Problem("main / quantize", "too small", fix=bigger)] if scale.float_data[0] == 0.5 else []

    monkeypatch.setattr("qdqtool.linting.selection.all_rules", lambda: {"QDQ901": rule("QDQ901", check)})
    monkeypatch.setattr("qdqtool.linting.run.all_rules", lambda: {})
    result = api.validate(model, fix=True, unsafe=True)
    assert (result.status, result.mended[0].check.verdict) == (0, "different")
    assert load(model).graph.initializer[0].float_data[0] == 1.0


def test_a_fix_that_fails_is_said(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(subject: Subject) -> list[Problem]:
        return [Problem("main / quantize", "odd", fix=Fix("divide", True, lambda: 1 / 0))]  # type: ignore[arg-type,return-value]

    monkeypatch.setattr("qdqtool.linting.selection.all_rules", lambda: {"QDQ901": rule("QDQ901", check)})
    before = model.read_bytes()
    result = api.validate(model, fix=True)
    error = result.errors[model.as_posix()]
    assert (result.status, error.message, error.why) == (2, "the fix of QDQ901 rule-qdq901 failed", "ZeroDivisionError: division by zero")
    assert model.read_bytes() == before


def test_models_in_memory_are_not_mended() -> None:
    with pytest.raises(Usage, match="only files are mended"):
        api.validate(plain(), fix=True)


def test_a_file_that_is_no_model_does_not_stop_the_others(model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.onnx").write_bytes(b"")
    result = api.validate(tmp_path, fix=True, select=[SHAPE])
    assert [m.file for m in result.mended] == [model.as_posix()]
    assert list(result.errors) == [(tmp_path / "a.onnx").as_posix()]


def test_external_data_stays_where_it_is(tmp_path: Path, fixtures: Path) -> None:
    for name in ("external_21.onnx", "external_21.bin"):
        (tmp_path / name).write_bytes((fixtures / name).read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        made_up = renaming("QDQ901", load(tmp_path / "external_21.onnx", load_external_data=False).graph.node[0].name, "renamed")
        patch.setattr("qdqtool.linting.selection.all_rules", lambda: {"QDQ901": made_up})
        result = api.validate(tmp_path / "external_21.onnx", fix=True)
    assert (result.errors, result.mended[0].check.verdict) == ({}, "equal")
    assert (tmp_path / "external_21.bin").read_bytes() == (fixtures / "external_21.bin").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["external_21.bin", "external_21.onnx"]
