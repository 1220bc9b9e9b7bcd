from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from onnx import ModelProto

from qdqtool import api
from qdqtool.errors import Usage
from qdqtool.findings import Finding
from qdqtool.linting import baseline
from tests.linting.models import plain, zero_scale

ONE = Finding("QDQ203", "scale-not-finite", "error", "m/a.onnx", "main / a", "scale 's' is nan", about="s", path="a.onnx")
TWO = replace(ONE, at="main / b")


def test_a_fingerprint_is_of_rule_file_place_and_cause() -> None:
    assert replace(ONE, message="other words", severity="info", hint="?", file="../m/a.onnx").fingerprint == ONE.fingerprint
    changed = [{"code": "QDQ204"}, {"path": "b.onnx"}, {"at": "main / b"}, {"about": "t"}]
    assert len({ONE.fingerprint, *(replace(ONE, **change).fingerprint for change in changed)}) == 5  # type: ignore[arg-type]


def test_known_findings_are_told_apart_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    baseline.write(path, [TWO, ONE])
    known = baseline.read(path)
    assert baseline.split([ONE, TWO], known) == ([], [ONE, TWO])
    assert baseline.split([ONE, ONE, TWO], known) == ([ONE], [ONE, TWO])
    assert [k.at for k in baseline.stale([ONE], known, {"a.onnx"}, {"QDQ203"})] == ["main / b"]
    assert baseline.stale([ONE], known, set(), {"QDQ203"}) == []
    assert baseline.stale([ONE], known, {"a.onnx"}, {"QDQ204"}) == []


def test_the_file_is_the_same_in_any_order(tmp_path: Path) -> None:
    baseline.write(tmp_path / "1.json", [ONE, TWO])
    baseline.write(tmp_path / "2.json", [TWO, ONE])
    text = (tmp_path / "1.json").read_text()
    assert text == (tmp_path / "2.json").read_text()
    assert json.loads(text)["findings"][0] == {
        "fingerprint": ONE.fingerprint,
        "code": "QDQ203",
        "path": "a.onnx",
        "at": "main / a",
        "about": "s",
    }


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2, "findings": []}', '{"version": 1, "findings": [{"a": 1}]}'])
def test_what_is_no_baseline_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "known.json").write_text(text)
    with pytest.raises(Usage, match="is no baseline"):
        baseline.read(tmp_path / "known.json")


def test_a_missing_baseline_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="does not exist"):
        baseline.read(tmp_path / "known.json")


@pytest.fixture
def models(tmp_path: Path) -> Path:
    (tmp_path / "models").mkdir()
    save(zero_scale(plain()), tmp_path / "models" / "a.onnx")
    return tmp_path / "models"


def save(model: ModelProto, path: Path) -> None:
    path.write_bytes(model.SerializeToString())


def test_only_new_findings_fail(models: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    written = api.validate(models, write_baseline=known)
    assert (written.ok, len(written.known)) == (True, 1)
    again = api.validate(models, baseline=known)
    assert (again.ok, again.findings, len(again.known), again.stale) == (True, (), 1, ())
    save(zero_scale(plain()), models / "b.onnx")
    more = api.validate(models, baseline=known)
    assert {f.path for f in more.failing} == {"models/b.onnx"}


def test_node_order_and_other_nodes_do_not_matter(models: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    api.validate(models, write_baseline=known)
    model = zero_scale(plain())
    model.graph.node.insert(0, model.graph.node.pop())
    model.graph.node.add(op_type="Identity", input=["x"], output=["unused"])
    model.graph.node.insert(0, model.graph.node.pop())
    save(model, models / "a.onnx")
    again = api.validate(models, baseline=known, ignore=["QDQ1", "QDQ3", "QDQ4"])
    assert (again.findings, len(again.known)) == ((), 1)


def test_paths_do_not_depend_on_where_it_is_started(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    api.validate(models, write_baseline=tmp_path / "known.json")
    monkeypatch.chdir(models)
    assert api.validate("a.onnx", baseline="../known.json").ok


def test_stale_entries_are_told(models: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    save(zero_scale(plain()), models / "b.onnx")
    api.validate(models, write_baseline=known)
    save(plain(), models / "a.onnx")
    (models / "b.onnx").unlink()
    result = api.validate(models, baseline=known)
    assert result.ok
    assert [(k.path, k.at) for k in result.stale] == [("models/a.onnx", "main / quantize"), ("models/b.onnx", "main / quantize")]
    assert api.validate(models / "a.onnx", baseline=known, select=["QDQ203"]).stale == ()
