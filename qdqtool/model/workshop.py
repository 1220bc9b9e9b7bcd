"""The staging folder beside a target: locked while its process lives, so that what killed runs left is found and cleared."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from qdqtool.errors import Usage
from qdqtool.model import disk

PREFIX = ".qdqtool-"
_LOCK, _JOURNAL = "lock", "journal.json"


@dataclass(frozen=True, slots=True)
class Workshop:
    """A locked folder of our own on the file system of the target; `files` is where the result is built, under final names."""

    folder: Path
    lock: BinaryIO = field(repr=False)

    @property
    def files(self) -> Path:
        return self.folder / "files"

    def note(self, names: Iterable[str]) -> dict[str, int]:
        """Record (name to inode), before publishing, data files in the target folder that must go if nothing mentions them."""
        target = self.folder.parent
        journal = {name: inode for name in names if (inode := _inode(self.files / name) or _inode(target / name))}
        with open(self.folder / _JOURNAL, "wb") as file:
            file.write(json.dumps(journal).encode())
            disk.sync(file)
        return journal

    def close(self) -> None:
        """Remove the folder and let the lock go."""
        shutil.rmtree(self.files, ignore_errors=True)
        self.lock.close()
        with suppress(OSError):
            _remove(self.folder)


def open_workshop(target: Path) -> Workshop:
    """Make a staging folder in `target`, after clearing what killed runs left there; Usage when that is impossible."""
    try:
        clear_stale(target)
        while (made := _make(target)) is None:
            pass
        return made
    except FileNotFoundError:
        raise Usage("no-such-folder", f"the folder {target} does not exist", hint="make it first") from None
    except OSError as error:
        raise Usage(
            "unwritable-folder", f"nothing can be written to {target}", why=str(error), hint="choose another place for the output"
        ) from None


def _make(target: Path) -> Workshop | None:
    """A new locked folder; None when another process took it for a dead one before it was locked."""
    folder = target / f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    folder.mkdir()
    try:
        lock = open(folder / _LOCK, "ab")  # noqa: SIM115 - held as long as the workshop
    except FileNotFoundError:
        return None
    if disk.try_lock(lock) and (folder / _LOCK).exists():
        (folder / "files").mkdir()
        return Workshop(folder, lock)
    lock.close()
    return None


def clear_stale(target: Path) -> None:
    """Remove the folders of runs that were killed, and data files they had published without their model."""
    for folder in target.glob(PREFIX + "*"):
        with suppress(OSError):
            _clear(folder)


def _clear(folder: Path) -> None:
    if not (folder / _LOCK).exists():
        folder.rmdir()
        return
    with open(folder / _LOCK, "ab") as lock:
        if disk.try_lock(lock):
            # A journal that is missing or cut off: nothing had been published yet.
            with suppress(OSError, ValueError):
                sweep(folder.parent, json.loads((folder / _JOURNAL).read_bytes()))
            shutil.rmtree(folder / "files", ignore_errors=True)
            _remove(folder)


def _remove(folder: Path) -> None:
    """The lock goes last: a folder without it is empty, however far this came."""
    (folder / _JOURNAL).unlink(missing_ok=True)
    (folder / _LOCK).unlink(missing_ok=True)
    folder.rmdir()


def sweep(target: Path, journal: Mapping[str, int]) -> None:
    """Remove those files of `journal` (name to inode) that are still the same and that no .onnx file in `target` mentions.

    Looking for the mere name keeps a file too many rather than one too few, and reads no model into memory.
    """
    for name, inode in journal.items():
        path = target / name
        if _inode(path) == inode and not any(_mentions(model, path.name) for model in target.glob("*.onnx")):
            path.unlink()


def _mentions(model: Path, name: str) -> bool:
    try:
        return disk.contains(model, name.encode())
    except OSError:
        return True


def _inode(path: Path) -> int:
    return path.lstat().st_ino if path.is_file() and not path.is_symlink() else 0
