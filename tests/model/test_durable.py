"""What replaces an existing output is on the disk before the old one goes; a new output is not waited for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from qdqtool.kernels.sources import ArraySource
from qdqtool.model import disk
from tests.model.publishing import publish


def recorded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Flushes and renames as they happen, by file name."""
    found: list[tuple[str, str]] = []
    fsync: Callable[[int], None] = os.fsync
    replace: Callable[[Path, Path], None] = os.replace

    def flush(descriptor: int) -> None:
        found.append(("flush", Path(os.readlink(f"/proc/self/fd/{descriptor}")).name))
        fsync(descriptor)

    def rename(old: Path, new: Path) -> None:
        found.append(("rename", Path(new).name))
        replace(old, new)

    monkeypatch.setattr(os, "fsync", flush)
    monkeypatch.setattr(os, "replace", rename)
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="names of open files are read from /proc")
def test_only_what_replaces_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = recorded(monkeypatch)
    publish(tmp_path, 0)
    assert ("flush", "m.onnx") not in found
    found.clear()
    publish(tmp_path, 1)
    last = found.index(("rename", "m.onnx"), found.index(("flush", "m.onnx")))
    flushed = [name for what, name in found[:last] if what == "flush"]
    assert "m.onnx" in flushed
    assert any(name.startswith("m") and name.endswith(".data") for name in flushed)


def test_much_data_is_flushed_while_it_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "FLUSHED", 1 << 10)
    flushes: list[int] = []
    monkeypatch.setattr(os, "fsync", flushes.append)
    told: list[int] = []
    with open(tmp_path / "data", "wb") as file, disk.flushing(file, told.append) as written:
        for _ in range(4):
            written(file.write(ArraySource(np.zeros(1 << 10, np.uint8)).array.data))
    assert sum(told) == 4 << 10
    assert len(flushes) >= 2


def test_a_disk_that_fails_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(disk, "FLUSHED", 1)
    monkeypatch.setattr(os, "fsync", broken)
    with (
        open(tmp_path / "data", "wb") as file,
        pytest.raises(OSError, match="Input/output"),
        disk.flushing(file, lambda count: None) as written,
    ):
        written(file.write(b"abc"))
