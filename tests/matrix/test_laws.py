"""Laws over the matrix: twice changes nothing more, there and back is where it was, the same bytes in every process."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from onnx import ModelProto

import qdqtool
from tests.graphs.case import Case
from tests.matrix.cell import outcome
from tests.matrix.cells import Cell, chosen, forms, whole

SHARE = 100
ROOT = Path(__file__).parents[2]


def _convert(model: ModelProto, target: int) -> ModelProto | None:
    try:
        return qdqtool.convert(model, opset=target, check=False).model
    except qdqtool.Refused:
        return None


def _twice(cells: list[Cell]) -> None:
    for case, target in cells:
        once = _convert(case.model(), target)
        if once is not None:
            again = _convert(once, target)
            assert again is not None, f"{case.id} to {target}"
            assert again.SerializeToString(deterministic=True) == once.SerializeToString(deterministic=True), f"{case.id} to {target}"


def _without_ir(model: ModelProto) -> bytes:
    copy = ModelProto.FromString(model.SerializeToString())
    copy.ir_version = 0
    return copy.SerializeToString(deterministic=True)


def _there_and_back(case: Case, target: int) -> None:
    """Up, then down. What the way up had to say otherwise (int32 x at 19 ... 22) or repair is reported, and stays."""
    up = qdqtool.convert(case.model(), opset=target, check=False)
    back = _convert(up.model, case.opset)
    assert back is not None, f"{case.id} by {target}"
    if not any(c.how for c in up.changes) and not any("repair" in note for note in up.notes):
        assert _without_ir(back) == _without_ir(case.model()), f"{case.id} by {target}"


def _up(cells: list[Cell]) -> list[Cell]:
    return [(c, t) for c, t in cells if t > c.opset and _convert(c.model(), t) is not None]


@pytest.mark.parametrize("form", forms())
def test_twice_changes_nothing_more(form: str) -> None:
    _twice(chosen(form, SHARE))


@pytest.mark.parametrize("form", forms())
def test_up_then_down_is_where_it_was(form: str) -> None:
    for case, target in _up(chosen(form, SHARE)):
        _there_and_back(case, target)


@pytest.mark.full
@pytest.mark.parametrize("form", forms())
def test_both_laws_hold_for_a_whole_form(form: str) -> None:
    _twice(whole(form))
    for case, target in _up(whole(form)):
        _there_and_back(case, target)


@pytest.mark.full
@pytest.mark.parametrize("form", forms())
def test_the_converter_s_own_check_agrees(form: str) -> None:
    failed = [f"{c.id} to {t}: {o.detail}" for c, t in chosen(form, SHARE) if (o := outcome(c, t, check=True)).letter in "CX"]
    assert not failed, "\n".join(failed[:10])


def fingerprint() -> str:
    """Of the results of the chosen cells."""
    seen = hashlib.sha256()
    for form in forms():
        for case, target in chosen(form, SHARE):
            result = _convert(case.model(), target)
            seen.update(f"{case.id} to {target}".encode() + (b"refused" if result is None else result.SerializeToString()))
    return seen.hexdigest()


def test_two_processes_write_the_same_bytes() -> None:
    code = "from tests.matrix.test_laws import fingerprint; print(fingerprint())"
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": s}, capture_output=True, text=True, check=True
        )
        for s in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout
