"""The whole-tool benchmark runs, and its subjects are sound; how fast anything is, is not tested here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

from tests.benchmarks import subjects, tools
from tests.conftest import ROOT


def test_the_command_prints_a_table_and_writes_json(tmp_path: Path) -> None:
    arguments = ["--only", "tiny", "--rounds", "2", "--tools", "qdqtool", "--json", str(tmp_path / "tools.json"), "--folder", str(tmp_path)]
    run = subprocess.run([sys.executable, "-m", "tests.benchmarks.tools", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    told = json.loads((tmp_path / "tools.json").read_text(encoding="utf-8"))
    assert [(row["model"], row["tool"], row["left"]) for row in told["rows"]] == [("tiny", "qdqtool", 0)]
    assert "qdqtool" in run.stdout
    assert "Noise" in run.stdout


def test_a_peer_that_is_not_there_is_listed() -> None:
    case = tools.Case("cnn")
    row = tools.row(case, "onnxsim", None, None)
    assert (row["model"], row["tool"], row["seconds"], row["remark"]) == ("cnn", "onnxsim", None, "not installed")


@pytest.mark.parametrize(
    "build", [lambda p: subjects.cnn(p, 2), lambda p: subjects.many(p, 3), lambda p: subjects.llm(p, 2, 64, "float16")]
)
def test_subjects_are_sound(build: object, tmp_path: Path) -> None:
    assert callable(build)
    build(tmp_path / "model.onnx")
    onnx.checker.check_model(tmp_path / "model.onnx", full_check=True)


def test_goals_are_judged() -> None:
    def row(model: str, tool: str, seconds: float, peak: float) -> dict[str, object]:
        return {"model": model, "tool": tool, "seconds": seconds, "peak_mib": peak, "onnx_mib": 1.0, "files_mib": 300.0}

    slow = tools.goals([row("llm300", "qdqtool", 2.0, 100.0), row("llm300", "onnxruntime", 12.0, 5000.0)])
    assert {goal.name: goal.reached for goal in slow} == {
        "llm300: time of ONNX Runtime / ours": False,
        "llm300: our memory / ONNX Runtime's": True,
        "llm300: peak MiB, 128 + 3 x .onnx": True,
    }
    work = tools.goals([row(m, "qdqtool", s, 60.0) for m, s in (("tiny", 0.2), ("many", 0.5), ("many x2", 0.9))])
    assert next(goal.measured for goal in work if "twice" in goal.name) == pytest.approx(0.7 / 0.3)
