"""Files by position: `pread`, `copy_file_range`, `fsync` and locks, with fallbacks where a platform lacks them.

Nothing is ever mapped: a mapped page counts as resident memory, a page read by `pread` into a buffer does not.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

CHUNK = 1 << 20
FLUSHED = 1 << 28
"""Bytes that are made before the disk is asked to take them."""

_COPY = 1 << 30
_BINARY = getattr(os, "O_BINARY", 0)


def read_at(path: Path, start: int, length: int) -> bytes:
    """The bytes ``[start, start + length)`` of a file; fewer where the file ends before."""
    descriptor = os.open(path, os.O_RDONLY | _BINARY)
    try:
        return _read(descriptor, start, length)
    finally:
        os.close(descriptor)


def read_into(path: Path, start: int, out: memoryview) -> int:
    """Fill `out` from the byte `start` on; returns how many bytes there were."""
    if not hasattr(os, "preadv"):
        found = read_at(path, start, len(out))
        out[: len(found)] = found
        return len(found)
    descriptor, done = os.open(path, os.O_RDONLY | _BINARY), 0
    try:
        while done < len(out):
            count = os.preadv(descriptor, [out[done:]], start + done)
            if not count:
                break
            done += count
    finally:
        os.close(descriptor)
    return done


def _read(descriptor: int, start: int, length: int) -> bytes:
    pieces: list[bytes] = []
    while length > 0:
        piece = _read_once(descriptor, start, length)
        if not piece:
            break
        pieces.append(piece)
        start, length = start + len(piece), length - len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _read_once(descriptor: int, start: int, length: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(descriptor, length, start)
    os.lseek(descriptor, start, os.SEEK_SET)
    return os.read(descriptor, length)


def positional(file: BinaryIO) -> bool:
    """Whether `write_at` can write to it."""
    return hasattr(os, "pwrite") and isinstance(file, io.BufferedWriter)


def write_at(file: BinaryIO, start: int, data: memoryview) -> None:
    """Write at a position, past the buffer of the file and without moving in it."""
    while data:
        written = os.pwrite(file.fileno(), data, start)
        start, data = start + written, data[written:]


def copy_range(source: Path, start: int, length: int, target: BinaryIO) -> None:
    """Write ``[start, start + length)`` of `source` at the position of `target`, inside the kernel where that is possible."""
    target.flush()
    position = target.tell()
    with open(source, "rb") as file:
        done = _copy_in_kernel(file.fileno(), start, length, target.fileno())
        target.seek(position + done)
        while done < length:
            piece = _read(file.fileno(), start + done, min(CHUNK, length - done))
            if not piece:
                raise OSError(f"{source} ends at byte {start + done}, {length - done} bytes too early")
            target.write(piece)
            done += len(piece)


def _copy_in_kernel(source: int, start: int, length: int, target: int) -> int:
    done = 0
    # Refused across file systems, by some network and container file systems, and missing outside Linux: the caller copies the rest.
    with suppress(OSError, AttributeError):
        while done < length:
            copied = os.copy_file_range(source, target, min(_COPY, length - done), start + done)
            if copied == 0:
                break
            done += copied
    return done


def same_bytes(a: Path, b: Path) -> bool:
    """Whether two files hold the same bytes."""
    if a.stat().st_size != b.stat().st_size:
        return False
    with open(a, "rb") as left, open(b, "rb") as right:
        return all(piece == right.read(CHUNK) for piece in iter(lambda: left.read(CHUNK), b""))


def sync(file: BinaryIO) -> None:
    """Have the bytes written so far on the disk."""
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def flushing(file: BinaryIO, wrote: Callable[[int], None]) -> Iterator[Callable[[int], None]]:
    """Something to be told of bytes written to `file`, and pass on: they go to the disk while more are made, and are there at the end."""
    waiting, flush = 0, Future[None]()
    flush.set_result(None)

    def written(count: int) -> None:
        nonlocal waiting, flush
        wrote(count)
        waiting += count
        if waiting >= FLUSHED and flush.done():
            flush.result()
            waiting, flush = 0, thread.submit(os.fsync, file.fileno())

    with ThreadPoolExecutor(1) as thread:
        yield written
        flush.result()
        sync(file)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where the platform can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def link_or_copy(source: Path, target: Path) -> None:
    """A second name for a file, or a copy where the file system has no hard links."""
    try:
        os.link(source.resolve(), target)
    except OSError:
        with open(target, "wb") as file:
            copy_range(source, 0, source.stat().st_size, file)


def contains(path: Path, word: bytes) -> bool:
    """Whether the bytes of `word` stand anywhere in a file."""
    with open(path, "rb") as file:
        tail = b""
        while piece := file.read(CHUNK):
            if word in tail + piece:
                return True
            tail = piece[-len(word) :]
    return False


def digest(path: Path) -> str:
    """Hash of a file's content."""
    import hashlib  # takes a while to load

    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def try_lock(file: BinaryIO) -> bool:
    """Lock an open file until it is closed (or its process dies); False when another process has it."""
    try:
        _lock(file.fileno())
    except OSError:
        return False
    return True


if os.name == "nt":  # pragma: no cover
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
