"""Building a result beside its target, and publishing it: data files first, the .onnx by one rename last.

A run killed at any moment leaves the old output or the new one; one that replaces another is on the disk before the other
goes. An existing data file is never overwritten: the new one gets a hash of its content in its name, and the old one goes
when the old model was to be replaced and no other .onnx in the folder mentions it. The staging folder holds the whole
result under its final names - data files that are not rewritten are hard links there (copies where links are impossible) -
so ONNX Runtime can run it where it stands, without ``session.model_external_initializers_file_folder_path``, which knows
one folder only.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath

from onnx import ModelProto

from qdqtool.errors import QdqtoolError, Usage
from qdqtool.kernels.sources import Source
from qdqtool.model import disk
from qdqtool.model.arrange import Wishes
from qdqtool.model.build import Progress, build
from qdqtool.model.load import Loaded, load
from qdqtool.model.workshop import Workshop, open_workshop, sweep

PROTOBUF_LIMIT = (1 << 31) - 1
"""Bytes that a protobuf message may have."""


@dataclass(slots=True, eq=False)
class Staged:
    """A finished result in its staging folder.

    Attributes
    ----------
    model : Path
        The staged .onnx; all its data is beside it.
    data_files : tuple of str
        New data files, relative to the model; those that are only referred to are not among them.
    stand_in : str
        The data file that got another name than was asked for, since another file has that; empty when none did.
    """

    out: Path
    model: Path
    data_files: tuple[str, ...]
    _workshop: Workshop = field(repr=False)
    _replaced: tuple[str, ...] = ()
    stand_in: str = ""

    @property
    def replaced(self) -> tuple[str, ...]:
        """Data files of the model that this one replaces; those that no other model refers to go when it is published."""
        return self._replaced

    def publish(self) -> Path:
        """Put the result in its place; returns the path of the model."""
        leftovers = self._workshop.note([*self.data_files, *self._replaced])
        try:
            self._move()
            leftovers = {name: inode for name, inode in leftovers.items() if name in self._replaced}
        except OSError as error:
            raise QdqtoolError("write-failed", f"the result could not be put in its place as {self.out}", why=str(error)) from error
        finally:
            sweep(self.out.parent, leftovers)
            self._workshop.close()
        return self.out

    def _move(self) -> None:
        folder = self.out.parent
        for name in self.data_files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(self._workshop.files / name, folder / name)
            disk.sync_folder((folder / name).parent)
        os.replace(self.model, self.out)
        disk.sync_folder(folder)

    def discard(self) -> None:
        """Remove all that was staged."""
        self._workshop.close()


def stage(
    proto: ModelProto,
    pending: Mapping[str, Source],
    *,
    loaded: Loaded,
    out: Path,
    external_data: str | None = None,
    overwrite: bool = False,
    unchanged: bool = False,
    limit: int = PROTOBUF_LIMIT,
    progress: Progress | None = None,
) -> Staged:
    """Write a result into a staging folder beside `out`.

    Parameters
    ----------
    proto : ModelProto
        The result; it is not changed, so it can be staged again elsewhere.
    pending : mapping of str to Source
        Data of the tensors (initializers or values of Constant nodes, anywhere) that have a name, type and dims but no
        data. Evaluated tile by tile into the file that they belong to, never held whole.
    loaded : Loaded
        Where the model came from; its external data is referred to when `out` lies in the same folder, else the ranges
        in use are copied, unread, into files of the same names.
    external_data : str, optional
        One file for all data of 1 KiB or more. Without it each data file stays one, new data goes to ``<out>.data`` if
        the model had data files, and all data does when the protobuf would exceed `limit` bytes.
    overwrite : bool
        Whether `out` may exist; then its old data files go when no other model needs them.
    unchanged : bool
        Nothing was converted: the output gets the very bytes of the input.
    progress : callable, optional
        Called with the bytes written so far and the bytes there will be, after each piece of a few MiB.

    Raises
    ------
    Usage
        `out` exists, its folder does not or cannot be written to, or `external_data` is no name beside the model.
    Unreadable
        External data is missing, short, overlapping or outside the folder.
    """
    out = out.absolute()
    _require_place(out, loaded, external_data, overwrite)
    replaced = _old_data(out, loaded)
    workshop = open_workshop(out.parent)
    try:
        whole = unchanged and external_data is None
        wishes = Wishes(out.parent, out.name, external_data, spill=False, whole_files=whole, durable=out.exists())
        names = build(proto, pending, loaded, wishes, workshop, limit, progress)
        fresh = tuple(name for name in names if not (out.parent / name).exists())
        stand_in = "" if external_data in (None, *names) else "".join(names)
        return Staged(out, workshop.files / out.name, fresh, workshop, tuple(n for n in replaced if n not in names), stand_in)
    except OSError as error:
        workshop.close()
        raise QdqtoolError("write-failed", f"the result could not be written beside {out}", why=str(error)) from error
    except BaseException:
        workshop.close()
        raise


def _require_place(out: Path, loaded: Loaded, external_data: str | None, overwrite: bool) -> None:
    if out.is_dir():
        raise Usage("output-is-folder", f"{out} is a folder", hint="name the file to write")
    if out.exists() and not out.is_file():
        raise Usage("output-is-no-file", f"{out} is a device or pipe, which publishing would replace", hint="name the file to write")
    if out.exists() and not overwrite:
        raise Usage("output-exists", f"{out} exists", hint="choose another name, or ask for overwriting")
    if loaded.base_dir is not None and any((loaded.base_dir / name).resolve() == out.resolve() for name in loaded.data_files):
        raise Usage("output-is-data", f"{out} is a data file of the model", hint="choose another name")
    if external_data is not None:
        _require_plain(external_data)
        if external_data == out.name:
            raise Usage("external-data-name", "the data file cannot have the name of the model", hint="choose another name")


def _require_plain(name: str) -> None:
    if name in ("", "..") or PureWindowsPath(name).name != name or "\0" in name:
        raise Usage("external-data-name", "--external-data takes a plain file name beside OUT", where=repr(name), hint="for example w.bin")


def _old_data(out: Path, loaded: Loaded) -> tuple[str, ...]:
    """Data files of the model that is to be replaced; none when it cannot be read."""
    if not out.is_file():
        return ()
    try:
        names = loaded.data_files if loaded.path == out else load(out).data_files
    except QdqtoolError:
        return ()
    return tuple(sorted(name for name in names if (out.parent / name).is_file() and not (out.parent / name).is_symlink()))
