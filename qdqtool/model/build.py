"""The staged files of a result: its data files, and then the protobuf that names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from onnx import ModelProto

from qdqtool.kernels.sources import Source
from qdqtool.model import disk, encode
from qdqtool.model.arrange import Wishes, arrange
from qdqtool.model.datafiles import link_files, write_files
from qdqtool.model.encode import Part
from qdqtool.model.layout import Layout
from qdqtool.model.load import Loaded
from qdqtool.model.stream import Wrote, ignore
from qdqtool.model.workshop import Workshop

Progress = Callable[[int, int], None]
"""Told how many bytes are written and how many there will be; from any thread, but never from two at once."""


def build(
    proto: ModelProto,
    pending: Mapping[str, Source],
    loaded: Loaded,
    wishes: Wishes,
    workshop: Workshop,
    limit: int,
    progress: Progress | None,
) -> tuple[str, ...]:
    """Write the model and its data files into the workshop; returns the names of the data files."""
    layout, parts = _arrange(proto, pending, loaded, wishes, limit)
    wrote = ignore if progress is None else _counted(progress, layout.bytes_in_files + encode.length(parts))
    names = write_files(layout, workshop.files, wishes.folder, wrote, durable=wishes.durable)
    renamed = any(old != new for old, new in names.items())
    if wishes.whole_files and renamed:
        # The bytes of the input name files that are other files here.
        for name in names.values():
            (workshop.files / name).unlink()
        return build(proto, pending, loaded, replace(wishes, whole_files=False), workshop, limit, progress)
    with open(workshop.files / wishes.model, "wb") as file:
        if wishes.whole_files and loaded.path is not None:
            disk.copy_range(loaded.path, 0, loaded.path.stat().st_size, file)
        else:
            encode.write(encode.parts(proto, layout.substitutes(names)) if renamed else parts, file, wrote)
        if wishes.durable:
            disk.sync(file)
    link_files(layout.links, workshop.files)
    return tuple(names.values())


def _counted(progress: Progress, total: int) -> Wrote:
    """Adds up what is written; the names of files may make the protobuf longer than was thought."""
    done = 0

    def wrote(count: int) -> None:
        nonlocal done
        done = min(done + count, total)
        progress(done, total)

    return wrote


def _arrange(proto: ModelProto, pending: Mapping[str, Source], loaded: Loaded, wishes: Wishes, limit: int) -> tuple[Layout, list[Part]]:
    """The layout, and the protobuf for the case that every data file can have its name."""
    layout = arrange(proto, pending, loaded.base_dir, bool(loaded.data_files), wishes)
    parts = encode.parts(proto, layout.substitutes({name: name for name in layout.files}))
    if encode.length(parts) <= limit or wishes.spill or wishes.whole_files:
        return layout, parts
    return _arrange(proto, pending, loaded, replace(wishes, spill=True), limit)
