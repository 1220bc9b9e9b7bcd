from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.golden import CASES, FOLDER, odd_files, rendered
from tests.conftest import Run


@pytest.mark.parametrize("name", CASES)
def test_output_status_and_files(qdqtool: Callable[..., Run], tmp_path: Path, name: str) -> None:
    odd_files(tmp_path)
    before = contents(tmp_path)
    run = qdqtool(*shlex.split(CASES[name]))
    assert rendered(CASES[name], run, tmp_path) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert "Traceback" not in run.err
    after = contents(tmp_path)
    if run.status or "-o out.onnx" not in CASES[name]:
        assert set(after) == set(before)
    if "--in-place" not in CASES[name]:
        assert {path: after[path] for path in before} == before


def test_there_is_no_other_golden_file() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_the_text_fits_80_columns(name: str) -> None:
    # Names and paths are not cut, and JSON is not for reading.
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()[1:]
    if "json" not in CASES[name]:
        assert [line for line in lines if len(line) > 80 and len(line.split()) > 3] == []


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
