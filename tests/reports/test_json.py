from __future__ import annotations

import json
from pathlib import Path

import pytest

from qdqtool.exactness import Exactness
from qdqtool.reports.json import STDOUT, write


def test_a_record_becomes_plain_data(tmp_path: Path) -> None:
    write({"a": (1, 2.5, True, None), "b": float("nan"), "c": Path("x"), "d": {"e": "ü"}}, tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8")) == {
        "a": [1, 2.5, True, None],
        "b": "nan",
        "c": "x",
        "d": {"e": "ü"},
    }


def test_stdout_and_nowhere(capsys: pytest.CaptureFixture[str]) -> None:
    write({"a": 1}, None)
    assert capsys.readouterr().out == ""
    write({"a": 1}, STDOUT)
    assert capsys.readouterr().out == '{\n  "a": 1\n}\n'


def test_an_exactness_is_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    write({"exactness": Exactness.ROUNDING}, STDOUT)
    assert json.loads(capsys.readouterr().out) == {"exactness": "equal up to rounding"}
