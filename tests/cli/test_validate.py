"""What `validate` writes beside stdout: fixes, reports in files, baselines; and the list of rules."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from onnx import load

from qdqtool import api
from tests.cli.golden import odd_files
from tests.conftest import Run

Command = Callable[..., Run]


@pytest.fixture
def here(qdqtool: Command, tmp_path: Path) -> Path:
    """The working folder of the command, with odd files in it."""
    odd_files(tmp_path)
    return tmp_path


def test_fixes_are_checked_and_written_in_place(qdqtool: Command, here: Path) -> None:
    run = qdqtool("validate", "shapes.onnx", "--fix")
    assert (run.status, run.err) == (0, "")
    assert run.out.startswith(
        "shapes.onnx: 2 fixes, written to shapes.onnx\n"
        "  QDQ135     2 x scalar-against-vector-of-one: give the zero point the shape []\n"
        "  check      equal (ONNX Runtime)"
    )
    assert run.out.endswith("nothing found in 1 file, judged for ort@1.32\n")
    assert qdqtool("validate", "shapes.onnx", "--fail-on", "info").status == 0
    again = (here / "shapes.onnx").read_bytes()
    qdqtool("validate", "shapes.onnx", "--fix")
    assert (here / "shapes.onnx").read_bytes() == again


def test_the_fixed_model_can_go_elsewhere(qdqtool: Command, here: Path) -> None:
    before = (here / "shapes.onnx").read_bytes()
    assert qdqtool("validate", "shapes.onnx", "--fix", "--fixed", "out.onnx", "-q") == Run(0, "", "")
    assert (here / "shapes.onnx").read_bytes() == before
    assert {tuple(t.dims) for t in load(here / "out.onnx").graph.initializer} == {()}


def test_several_formats_at_once(qdqtool: Command, here: Path) -> None:
    run = qdqtool("validate", "zero.onnx", "--format", "json=a.json", "--format", "text=a.txt", "--format", "json=b.json")
    assert run.status == 1
    assert run.out == (here / "a.txt").read_text(encoding="utf-8")
    assert json.loads((here / "b.json").read_text(encoding="utf-8"))["findings"][0]["code"] == "QDQ201"
    assert (here / "a.json").read_bytes() == (here / "b.json").read_bytes()
    assert qdqtool("validate", "zero.onnx", "--json", "c.json").status == 1
    assert (here / "a.json").read_bytes() == (here / "c.json").read_bytes()


def test_the_output_has_a_file(qdqtool: Command, here: Path) -> None:
    run = qdqtool("validate", "zero.onnx", "--format", "json", "--output", "a.json")
    assert (run.status, json.loads((here / "a.json").read_text(encoding="utf-8"))["ok"]) == (1, False)
    assert "QDQ201 scale-zero" in run.out
    assert qdqtool("validate", "zero.onnx", "--output", "a.txt").out == (here / "a.txt").read_text(encoding="utf-8")
    assert qdqtool("validate", "zero.onnx", "--output", "nowhere/a.txt").status == 2


def test_unreadable_files_are_told_beside_json(qdqtool: Command, here: Path) -> None:
    run = qdqtool("validate", "empty.onnx", "--format", "json")
    assert (run.status, json.loads(run.out)["errors"][0]["code"]) == (2, "empty-file")
    assert run.err.startswith("error: empty.onnx is empty  [empty-file]\n")


def test_a_baseline(qdqtool: Command, here: Path) -> None:
    written = qdqtool("validate", "zero.onnx", "--write-baseline", "known.json")
    assert (written.status, written.out.splitlines()[1:]) == (0, ["1 known finding in the baseline", "written known.json, 1 finding"])
    assert qdqtool("validate", "zero.onnx", "--baseline", "known.json").status == 0
    assert qdqtool("validate", "zero.onnx", "--baseline", "nothing.json").status == 2
    (here / "qdqtool.toml").write_text('baseline = "known.json"\n', encoding="utf-8")
    assert qdqtool("validate", "zero.onnx").status == 0


def test_settings_and_several_processes(qdqtool: Command, here: Path) -> None:
    (here / "pyproject.toml").write_text(
        '[tool.qdqtool]\nfor = "ort@1.17"\n[tool.qdqtool.per-file-ignores]\n"zero.onnx" = ["QDQ2"]\n', encoding="utf-8"
    )
    one, two = (qdqtool("validate", "zero.onnx", "fixtures", "-j", jobs) for jobs in (1, 2))
    assert one == two
    assert "judged for ort@1.17" in one.out
    assert "QDQ201" not in one.out
    assert "QDQ201" in qdqtool("validate", "zero.onnx", "--config", os.devnull).out


@pytest.mark.parametrize(
    "options",
    [
        ["--unsafe"],
        ["--fixed", "out.onnx", "--fix", "--for", "nothing"],
        ["--fixed", "out.onnx"],
        ["--fixed", "out.onnx", "--diff"],
        ["--jobs", "0"],
        ["--select", ""],
        ["--ignore", ","],
        ["--statistics", "--format", "json"],
        ["--baseline", "nothing.json", "--write-baseline", "known.json"],
        ["--write-baseline", "nowhere/known.json"],
        ["--write-baseline", "known.json", "--output", "known.json"],
        ["--baseline", "short/wrong.toml", "--format", "json=short/wrong.toml"],
        ["--for", "ort@1.17", "--for", "tvm"],
    ],
)
def test_wrong_usage(qdqtool: Command, here: Path, options: list[str]) -> None:
    before = sorted(here.iterdir())
    assert qdqtool("validate", "zero.onnx", *options).status == 2
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize(("text", "hint"), [("{}", "--write-baseline"), ("no JSON", "name a file of"), (None, "--write-baseline")])
def test_the_way_out_of_a_broken_baseline_destroys_nothing(qdqtool: Command, here: Path, text: str | None, hint: str) -> None:
    if text is not None:
        (here / "known.json").write_text(text, encoding="utf-8")
    assert f"  hint       {hint}" in qdqtool("validate", "zero.onnx", "--baseline", "known.json").err


def test_a_file_that_may_not_be_read_is_told_and_the_others_are_judged(
    qdqtool: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "hard.onnx").write_bytes((here / "zero.onnx").read_bytes())

    def refuse(path: Any, *arguments: Any, **options: Any) -> Any:
        if Path(path).name == "hard.onnx":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return open(path, *arguments, **options)

    monkeypatch.setattr("qdqtool.model.load.open", refuse, raising=False)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    run = qdqtool("validate", "hard.onnx", "zero.onnx")
    assert run.status == 2
    assert "QDQ201 scale-zero" in run.out
    assert run.err.startswith("error: ")
    assert "hard.onnx cannot be read  [unreadable-file]" in run.err
    assert "hard.onnx cannot be read  [unreadable-file]" in qdqtool("inspect", "hard.onnx").err


def test_rules_are_listed(qdqtool: Command) -> None:
    run, record = qdqtool("rules"), json.loads(qdqtool("rules", "--json", "-", "-q").out)
    assert (run.status, [r["code"] for r in record["rules"]]) == (0, [rule.code for rule in api.rules()])
    assert all(f"    {rule.code}  {rule.name}" in run.out for rule in api.rules())


def test_every_rule_explains_itself(qdqtool: Command) -> None:
    for rule in api.rules():
        by_code, by_name = qdqtool("validate", "--explain", rule.code.lower()), qdqtool("validate", "--explain", rule.name)
        assert by_code == by_name
        assert by_code.out.startswith(f"{rule.code} {rule.name}  ({rule.severity}, {rule.group})\n\n")
        assert qdqtool("rules", rule.code) == by_code
    assert qdqtool("validate", "--explain", "QDQ2").status == 2
