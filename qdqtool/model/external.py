"""Tensors whose data lies in another file: where exactly, and whether all of it is there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from onnx import TensorProto

from qdqtool.dtypes import ElementType
from qdqtool.errors import Unreadable
from qdqtool.model import disk, packing, paths
from qdqtool.model.packing import Array

LFS = b"version https://git-lfs.github.com/spec/"
_LONGEST_POINTER = 1024
_FETCH = "`git lfs pull` fetches the data"


@dataclass(frozen=True, slots=True)
class Extent:
    """The bytes ``[offset, offset + length)`` of a file."""

    path: Path
    offset: int
    length: int

    @property
    def end(self) -> int:
        return self.offset + self.length


@dataclass(frozen=True, slots=True)
class ExternalSource:
    """A tensor read from its file by range; the file is open only while a range is read."""

    extent: Extent
    dtype: ElementType
    shape: tuple[int, ...]
    name: str
    parallel = True

    def read(self, start: int, stop: int) -> Array:
        first, end, skip = packing.byte_range(self.dtype, start, stop)
        data = disk.read_at(self.extent.path, self.extent.offset + first, end - first)
        self._require(len(data), end - first)
        return packing.unpack(data, self.dtype, skip, stop - start)

    def read_storage(self, start: int, stop: int, out: Array) -> None:
        first, end, _ = packing.byte_range(self.dtype, start, stop)
        self._require(disk.read_into(self.extent.path, self.extent.offset + first, out.data), end - first)

    def _require(self, found: int, wanted: int) -> None:
        if found < wanted:
            raise Unreadable("data-short", f"the file of tensor '{self.name}' shrank while it was read", where=str(self.extent.path))


_EXTERNAL = TensorProto.EXTERNAL


def is_external(tensor: TensorProto) -> bool:
    """Whether the data lies in another file."""
    return tensor.data_location == _EXTERNAL


def location(tensor: TensorProto) -> str:
    """Name of the data file as written in the model; empty when there is none."""
    return _entries(tensor).get("location", "")


def extent(tensor: TensorProto, expected: int, base_dir: Path | None) -> Extent:
    """Where the data of an external tensor lies.

    Parameters
    ----------
    expected : int
        Bytes that type and shape ask for.
    base_dir : Path or None
        Folder of the model.

    Raises
    ------
    Unreadable
        The location is refused (see `paths`), the file is missing, a git-lfs pointer or too short, or offset and
        length are no numbers or do not fit type and shape.
    """
    found = planned(tensor, expected, base_dir)
    require(tensor, found)
    return found


def planned(tensor: TensorProto, expected: int, base_dir: Path | None) -> Extent:
    """As `extent`, without a look at the file."""
    if base_dir is None:
        hint = "name the folder of the data (base_dir= in Python)"
        raise Unreadable("data-without-folder", f"tensor '{tensor.name}' lies in a file, and the model's folder is not known", hint=hint)
    entries = _entries(tensor)
    path = paths.join(base_dir, entries.get("location", ""), tensor.name)
    offset = _number(tensor, entries, "offset", 0)
    length = _number(tensor, entries, "length", expected)
    if length != expected:
        why = f"its type and shape {list(tensor.dims)} ask for {expected} bytes, the model says that {length} are stored"
        raise _error("data-length", tensor, "has external data of the wrong length", path, why)
    return Extent(path, offset, length)


def _entries(tensor: TensorProto) -> dict[str, str]:
    # protobuf hands out bytes where a damaged file holds no UTF-8
    values = ((entry.key, entry.value) for entry in tensor.external_data)
    return {key: value if isinstance(value, str) else bytes(value).decode("utf-8", "replace") for key, value in values}


def _number(tensor: TensorProto, entries: dict[str, str], key: str, default: int) -> int:
    text = entries.get(key, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit()):
        message, where = f"tensor '{tensor.name}' has {key} {text!r}, which is no byte count", entries.get("location", "")
        raise Unreadable("data-reference", message, where=where)
    return int(text)


def require(tensor: TensorProto, wanted: Extent) -> None:
    """Unreadable when the file is missing, a git-lfs pointer, or ends before the extent."""
    try:
        with open(wanted.path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            pointer = size < _LONGEST_POINTER and file.read(len(LFS)) == LFS
    except (FileNotFoundError, NotADirectoryError):
        hint = "copy it there (in Python, base_dir= names another folder)"
        raise _error("data-missing", tensor, "has its data in a file that is not there", wanted.path, hint=hint) from None
    except OSError as error:
        raise _error("data-unreadable", tensor, "has its data in a file that cannot be read", wanted.path, str(error)) from None
    if pointer:
        raise _error("data-pointer", tensor, "has its data in a file that is only a git-lfs pointer", wanted.path, hint=_FETCH)
    if size < wanted.end:
        why = f"bytes {wanted.offset} to {wanted.end} are needed, the file has {size}"
        hint = "the file is cut off or belongs to another model; fetch it again"
        raise _error("data-short", tensor, "has its data in a file that is too short", wanted.path, why, hint)


def _error(code: str, tensor: TensorProto, message: str, path: Path, why: str = "", hint: str = "") -> Unreadable:
    return Unreadable(code, f"tensor '{tensor.name}' {message}", where=str(path), why=why, hint=hint)
