"""Reading and copying by position, with and without the help of the kernel."""

from __future__ import annotations

import os

import pytest

from qdqtool.model import disk

DATA = bytes(range(256)) * 20


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source"
    path.write_bytes(DATA)
    return path


@pytest.fixture(params=["kernel", "no kernel", "kernel gives up"])
def kernel(request, monkeypatch):
    """How much `copy_file_range` and `pread` help."""

    def refuse(*_):
        raise OSError("not here")

    calls = iter([7, refuse])
    real = getattr(os, "copy_file_range", None)

    def once(source, target, count, offset):
        step = next(calls)
        return real(source, target, step, offset) if step == 7 else refuse()

    if request.param == "no kernel":
        monkeypatch.delattr(os, "copy_file_range", raising=False)
        monkeypatch.delattr(os, "pread", raising=False)
    elif request.param == "kernel gives up" and real:
        monkeypatch.setattr(os, "copy_file_range", once)


@pytest.mark.usefixtures("kernel")
def test_copies_land_at_the_position_of_the_target(source, tmp_path):
    with open(tmp_path / "target", "wb") as file:
        file.write(b"head")
        file.seek(4096)
        disk.copy_range(source, 100, 300, file)
        assert file.tell() == 4396
        file.write(b"tail")
    assert (tmp_path / "target").read_bytes() == b"head" + bytes(4092) + DATA[100:400] + b"tail"


@pytest.mark.usefixtures("kernel")
def test_reading_ends_with_the_file(source):
    assert disk.read_at(source, 10, 5) == DATA[10:15]
    assert disk.read_at(source, len(DATA) - 3, 10) == DATA[-3:]
    assert disk.read_at(source, len(DATA) + 3, 10) == b""


@pytest.mark.usefixtures("kernel")
def test_a_source_that_is_too_short_is_an_error(source, tmp_path):
    with open(tmp_path / "target", "wb") as file, pytest.raises(OSError, match="too early"):
        disk.copy_range(source, 100, len(DATA), file)


def test_a_word_is_found_across_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "CHUNK", 8)
    path = tmp_path / "file"
    path.write_bytes(b"0123456name.data789")
    assert disk.contains(path, b"name.data")
    assert not disk.contains(path, b"name.dat4")


def test_a_lock_has_one_owner(tmp_path):
    with open(tmp_path / "lock", "ab") as first, open(tmp_path / "lock", "ab") as second:
        assert disk.try_lock(first)
        assert not disk.try_lock(second)


def test_same_bytes(tmp_path, source):
    for name, data, same in (("a", DATA, True), ("b", DATA[:-1], False), ("c", DATA[:-1] + b"x", False)):
        (tmp_path / name).write_bytes(data)
        assert disk.same_bytes(source, tmp_path / name) is same
        assert (disk.digest(source) == disk.digest(tmp_path / name)) is same
