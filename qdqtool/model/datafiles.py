"""Writing the data files of a result into its staging folder, under names that are free in the target folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from qdqtool.errors import QdqtoolError
from qdqtool.model import disk
from qdqtool.model.external import Extent
from qdqtool.model.layout import Layout, Piece
from qdqtool.model.stream import Wrote


def write_files(layout: Layout, folder: Path, target: Path, wrote: Wrote, *, durable: bool) -> dict[str, str]:
    """Write the data files, and if they shall be `durable` wait for the disk; returns the final name of each location."""
    names: dict[str, str] = {}
    for location, pieces in layout.files.items():
        path = folder / location
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as file, disk.flushing(file, wrote) if durable else nullcontext(wrote) as written:
            _write_pieces(pieces, file, written)
        names[location] = _free_name(location, path, target)
        os.replace(path, folder / names[location])
    return names


def _write_pieces(pieces: Iterable[Piece], file: BinaryIO, wrote: Wrote) -> None:
    for piece in pieces:
        file.seek(piece.offset)
        if isinstance(piece.content, Extent):
            disk.copy_range(piece.content.path, piece.content.offset, piece.length, file)
            wrote(piece.length)
        else:
            piece.content.write(file, wrote)
        if file.tell() != piece.offset + piece.length:
            name = Path(file.name).name
            raise QdqtoolError("internal", f"a constant in {name} has not the size of its shape", hint="please report this")


def _free_name(location: str, path: Path, target: Path) -> str:
    """The name a data file can have in `target`: its own, or with as much of its hash as it takes to be no other file's."""
    if _takes(target / location, path):
        return location
    name, digest = PurePosixPath(location), disk.digest(path)
    hashed = (str(name.with_name(f"{name.stem}-{digest[:count]}{name.suffix}")) for count in range(8, len(digest) + 1))
    return next(free for free in hashed if _takes(target / free, path))


def _takes(place: Path, path: Path) -> bool:
    """Whether `path` can be published as `place`: nothing is there, or the same bytes are."""
    if not place.exists():
        return not place.is_symlink()
    return place.is_file() and not place.is_symlink() and disk.same_bytes(place, path)


def link_files(links: Mapping[str, Path], folder: Path) -> None:
    """Give data files that stay where they are a second name in `folder`."""
    for location, path in links.items():
        (folder / location).parent.mkdir(parents=True, exist_ok=True)
        disk.link_or_copy(path, folder / location)
