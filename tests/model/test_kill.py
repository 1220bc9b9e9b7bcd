"""Runs that are killed while they stage and publish: the old output or the new one, and nothing the next run trips over."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from qdqtool.errors import QdqtoolError
from qdqtool.model import load, tensors, workshop
from tests.conftest import ROOT
from tests.model.models import adding, outside, saved, write_data
from tests.model.publishing import publish

LONGEST = 0.06
"""Seconds; a publication takes about a sixth of it."""


def killed_run(folder: Path, moment: float) -> None:
    command = [sys.executable, "-m", "tests.model.publishing", str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(moment)
        process.kill()


def values(path: Path) -> set[float]:
    loaded = load.load(path)
    return {float(v) for t in loaded.proto.graph.initializer for v in tensors.array(t, loaded.base_dir)}


@pytest.mark.parametrize("kills", [6, pytest.param(200, marks=pytest.mark.full)])
def test_killed_at_random_moments(kills, tmp_path):
    write_data(tmp_path / "other.data", 7)
    other = saved(adding(outside("w", [4], "other.data")), tmp_path / "other.onnx")
    rng = random.Random(kills)
    for _ in range(kills):
        killed_run(tmp_path, rng.uniform(0, LONGEST))
        assert len(values(tmp_path / "m.onnx")) == 1
        assert values(other) == {7}
    publish(tmp_path, 1)
    publish(tmp_path, 2)
    assert values(tmp_path / "m.onnx") == {2}
    left = sorted(os.listdir(tmp_path))
    assert [name for name in left if not name.startswith("m")] == ["other.data", "other.onnx"]
    assert len(left) == 4


@pytest.mark.parametrize("stride", [5, pytest.param(1, marks=pytest.mark.full)])
def test_killed_before_a_change_of_the_disk(stride, tmp_path):
    """The same at fixed moments: right before the first, second ... rename, removal or flush, until the run gets through."""
    for step in range(0, 200, stride):
        command = [sys.executable, "-m", "tests.model.publishing", str(tmp_path), str(step)]
        died = subprocess.run(command, cwd=ROOT, check=False).returncode
        assert len(values(tmp_path / "m.onnx")) == 1
        assert len([name for name in os.listdir(tmp_path) if not name.startswith(".")]) <= 3
        if not died:
            break
    assert died == 0
    assert step > 10
    assert values(tmp_path / "m.onnx") == {1}
    assert len(os.listdir(tmp_path)) == 2


def test_a_failing_rename_takes_the_new_data_back(tmp_path, monkeypatch):
    publish(tmp_path, 1)
    before = sorted(os.listdir(tmp_path))
    real = os.replace

    def refusing(source, target):
        if Path(target) == tmp_path / "m.onnx":
            raise OSError("no space")
        real(source, target)

    monkeypatch.setattr(os, "replace", refusing)
    with pytest.raises(QdqtoolError, match="could not be put in its place"):
        publish(tmp_path, 2)
    assert values(tmp_path / "m.onnx") == {1}
    assert sorted(os.listdir(tmp_path)) == before


def test_a_folder_in_use_is_left_alone(tmp_path):
    mine = workshop.open_workshop(tmp_path)
    publish(tmp_path, 1)
    assert mine.files.is_dir()
    mine.close()
    assert len(os.listdir(tmp_path)) == 2


def test_a_folder_without_lock_is_cleared_only_when_it_is_empty(tmp_path):
    for name in ("empty", "full"):
        (tmp_path / (workshop.PREFIX + name)).mkdir()
    (tmp_path / (workshop.PREFIX + "full") / "notes").touch()
    workshop.clear_stale(tmp_path)
    assert os.listdir(tmp_path) == [workshop.PREFIX + "full"]


def test_files_of_the_journal_that_became_others_stay(tmp_path):
    write_data(tmp_path / "a.data", 1)
    workshop.sweep(tmp_path, {"a.data": (tmp_path / "a.data").stat().st_ino + 1, "gone": 5})
    assert os.listdir(tmp_path) == ["a.data"]
