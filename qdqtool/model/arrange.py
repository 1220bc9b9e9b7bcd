"""Deciding which tensors of a result stay in the protobuf and which lie in which data file."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from onnx import ModelProto, TensorProto

from qdqtool import dtypes
from qdqtool.errors import QdqtoolError, Unreadable
from qdqtool.kernels.sources import Source
from qdqtool.model import external, inline, paths, tensors, walk
from qdqtool.model.external import Extent
from qdqtool.model.layout import Layout, Piece
from qdqtool.model.stream import Stream

SMALLEST = 1024
"""Tensors below this many bytes stay in the protobuf, as in onnx.save."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """`name`: file for all data (None: keep the files there are); `spill`: data of the protobuf goes out too.

    `durable`: all of it is on the disk before it is published, since it replaces something; else the system writes in its own time.
    """

    folder: Path
    model: str
    name: str | None
    spill: bool
    whole_files: bool = False
    durable: bool = True

    @property
    def new_data(self) -> str:
        """Location of data that has no file yet."""
        return self.name or f"{self.model}.data"


def arrange(model: ModelProto, pending: Mapping[str, Source], base_dir: Path | None, had_files: bool, wishes: Wishes) -> Layout:
    """Give every tensor its place.

    Raises
    ------
    Unreadable
        External data is missing, short, outside the folder, or regions of different tensors overlap.
    """
    layout = Layout()
    regions: dict[Extent, list[TensorProto]] = {}
    outside = had_files or wishes.name is not None or wishes.spill
    for tensor in walk.tensors(model):
        if external.is_external(tensor):
            where = external.extent(tensor, tensors.nbytes(tensor), base_dir)
            regions.setdefault(where, []).append(tensor)
        elif _is_pending(tensor, pending):
            _place(layout, tensor, pending[tensor.name], outside, wishes)
        elif wishes.name is not None or wishes.spill:
            _move_out(layout, tensor, wishes)
    _require_apart(regions)
    _arrange_files(layout, regions, base_dir, wishes)
    return layout


def _is_pending(tensor: TensorProto, pending: Mapping[str, Source]) -> bool:
    return tensor.name in pending and not inline.has_data(tensor) and tensors.nbytes(tensor) > 0


def _place(layout: Layout, tensor: TensorProto, source: Source, outside: bool, wishes: Wishes) -> None:
    if (source.dtype, tuple(source.shape)) != (tensors.element_type(tensor), tensors.shape(tensor)):
        message = f"tensor '{tensor.name}' is declared {tensors.element_type(tensor)}{list(tensor.dims)}"
        raise QdqtoolError("internal", message, why=f"its data is {source.dtype}{list(source.shape)}", hint="please report this")
    layout.kept_alive.append(tensor)
    content = Stream(source)
    if outside and content.size >= SMALLEST:
        layout.add(wishes.new_data, content, content.size, [tensor])
    else:
        layout.inline[id(tensor)] = content


def _move_out(layout: Layout, tensor: TensorProto, wishes: Wishes) -> None:
    if dtypes.of_code(tensor.data_type) in (None, dtypes.STRING) or tensors.nbytes(tensor) < SMALLEST or not inline.has_data(tensor):
        return
    content = Stream(tensors.source(tensor, None))
    layout.kept_alive.append(tensor)
    layout.add(wishes.new_data, content, content.size, [tensor])


def _require_apart(regions: Mapping[Extent, list[TensorProto]]) -> None:
    """The same region may serve many tensors; regions that share only a part are an error of whoever wrote the offsets."""
    ordered = sorted((where for where in regions if where.length), key=lambda where: (str(where.path), where.offset, where.end))
    for first, second in pairwise(ordered):
        if first.path == second.path and second.offset < first.end:
            names = f"'{regions[first][0].name}' and '{regions[second][0].name}'"
            why = f"bytes {first.offset} to {first.end} and {second.offset} to {second.end}"
            hint = "the offsets are wrong; save the model again with its data"
            raise Unreadable("data-overlap", f"the external data of {names} overlaps", where=str(first.path), why=why, hint=hint)


def _arrange_files(layout: Layout, regions: Mapping[Extent, list[TensorProto]], base_dir: Path | None, wishes: Wishes) -> None:
    for where in sorted(regions, key=lambda where: (str(where.path), where.offset)):
        owners = regions[where]
        layout.kept_alive += owners
        location = posixpath.normpath(external.location(owners[0]))
        if wishes.name is None and _stays(where.path, base_dir, wishes):
            layout.links[location] = where.path
        elif wishes.whole_files:
            _keep_whole(layout, location, where.path)
        else:
            layout.add(_home(location, wishes), where, where.length, owners)


def _stays(path: Path, base_dir: Path | None, wishes: Wishes) -> bool:
    """Whether a result may go on referring to a data file: in its own folder, not through a link, and not the file it replaces."""
    same = base_dir is not None and base_dir.resolve() == wishes.folder.resolve()
    return same and paths.inside(path, [wishes.folder]) and path.resolve() != (wishes.folder / wishes.model).resolve()


def _home(location: str, wishes: Wishes) -> str:
    if wishes.name is not None or location == wishes.model:
        return wishes.new_data
    return location


def _keep_whole(layout: Layout, location: str, path: Path) -> None:
    if location not in layout.files:
        length = path.stat().st_size
        layout.files[location] = [Piece(Extent(path, 0, length), 0, length)]
