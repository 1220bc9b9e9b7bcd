from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.linting.damage import WAYS, damaged
from tests.linting.fuzz import judged, run, subjects

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of memory and time are those of POSIX")


def looping(path: Path, target: str) -> str:
    while True:
        pass


def flooding(path: Path, target: str) -> str:
    return "" if len(b"x" * (600 << 20)) else "nothing"


def exploding(path: Path, target: str) -> str:
    raise SystemError("odd")


def complaining(path: Path, target: str) -> str:
    return f"{target} is odd"


def test_damaged_files_do_no_harm() -> None:
    assert run(0, 300) == []


@pytest.mark.full
def test_many_damaged_files_do_no_harm() -> None:
    assert run(0, 10_000, workers=2) == []


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        pytest.param(looping, "hang of more than 2.0 s", marks=pytest.mark.full),
        pytest.param(flooding, "more than 500 MiB", marks=pytest.mark.full),
        (exploding, "worker ended with 1"),
        (complaining, " is odd"),
    ],
)
def test_harm_is_noticed(judge: object, said: str) -> None:
    found = run(5, 2, judge=judge)  # type: ignore[arg-type]
    assert [failure.case for failure in found if said in failure.what] == [5, 6]


def test_damage_is_the_same_every_time() -> None:
    data = subjects()[0][1]
    assert [damaged(data, seed) for seed in range(50)] == [damaged(data, seed) for seed in range(50)]
    assert len({damaged(data, seed) for seed in range(50)}) > 45
    assert len(set(WAYS)) >= 6


def test_a_sound_file_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"
    path.write_bytes(subjects()[0][1])
    assert judged(path, "ort") == ""
