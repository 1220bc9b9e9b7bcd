from __future__ import annotations

from pathlib import Path

import pytest

from qdqtool.errors import Usage
from qdqtool.linting.files import below, find


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.onnx", "a.ONNX", "notes.txt", "deep/er/c.onnx", ".hidden/d.onnx", "model.onnx/e.onnx"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    return tmp_path


def names(folder: Path, *exclude: str) -> list[str]:
    return [below(path, folder) for path in find([folder], folder, exclude)]


def test_models_below_a_folder_in_order(folder: Path) -> None:
    assert names(folder) == ["a.ONNX", "b.onnx", "deep/er/c.onnx", "model.onnx/e.onnx"]


def test_what_is_excluded(folder: Path) -> None:
    assert names(folder, "deep", "b.*") == ["a.ONNX", "model.onnx/e.onnx"]


def test_what_is_named_is_taken(folder: Path) -> None:
    named = [folder / "notes.txt", folder / ".hidden", folder / "nothing.onnx"]
    assert find(named, folder, ["*"]) == [folder / "notes.txt", folder / "nothing.onnx"]
    assert find(named, folder) == [folder / "notes.txt", folder / ".hidden" / "d.onnx", folder / "nothing.onnx"]


def test_each_once(folder: Path) -> None:
    assert find([folder / "b.onnx", folder / "deep" / ".." / "b.onnx"], folder) == [folder / "b.onnx"]


def test_loops_of_links_end(folder: Path) -> None:
    (folder / "deep" / "loop").symlink_to(folder)
    (folder / "deep" / "self").symlink_to(folder / "deep" / "self")
    assert names(folder) == ["a.ONNX", "b.onnx", "deep/er/c.onnx", "model.onnx/e.onnx"]


def test_links_are_followed_and_broken_ones_taken(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "f.onnx").write_bytes(b"")
    (folder / "linked").symlink_to(other)
    (folder / "gone.onnx").symlink_to(folder / "nowhere")
    assert names(folder, "deep", "model.onnx") == ["a.ONNX", "b.onnx", "gone.onnx", "linked/f.onnx"]


def test_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Usage, match=r"no \.onnx file is below"):
        find([tmp_path], tmp_path)


def test_paths_outside_the_root_stay_whole(tmp_path: Path) -> None:
    assert below(tmp_path / "a.onnx", tmp_path / "b") == (tmp_path / "a.onnx").as_posix()
