"""Where the data of a result lies: pieces of data files, files that stay, and data inside the protobuf."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from onnx import TensorProto

from qdqtool.model.encode import Substitute
from qdqtool.model.external import Extent
from qdqtool.model.stream import Stream

ALIGNMENT = 4096
"""Offsets in data files, as onnx.proto recommends, so that runtimes can map them."""

Content = Extent | Stream

_EXTERNAL_KEYS = ("location", "offset", "length", "checksum")
_DATA_FIELDS = ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data", "external_data")


@dataclass(slots=True)
class Piece:
    """A stretch of a data file and the tensors whose data it is."""

    content: Content
    offset: int
    length: int
    tensors: list[TensorProto] = field(default_factory=list)


@dataclass(slots=True)
class Layout:
    """`files`: pieces by location; `links`: data files that stay where they are; `inline`: data to write into the protobuf."""

    files: dict[str, list[Piece]] = field(default_factory=dict)
    links: dict[str, Path] = field(default_factory=dict)
    inline: dict[int, Stream] = field(default_factory=dict)
    kept_alive: list[TensorProto] = field(default_factory=list)

    def add(self, location: str, content: Content, length: int, owners: Iterable[TensorProto]) -> None:
        pieces = self.files.setdefault(location, [])
        end = pieces[-1].offset + pieces[-1].length if pieces else 0
        pieces.append(Piece(content, -(-end // ALIGNMENT) * ALIGNMENT, length, list(owners)))

    @property
    def bytes_in_files(self) -> int:
        return sum(piece.length for pieces in self.files.values() for piece in pieces)

    def substitutes(self, names: Mapping[str, str]) -> dict[int, Substitute]:
        """What to write for each tensor; `names` gives the final name of each location."""
        found: dict[int, Substitute] = dict(self.inline)
        for location, pieces in self.files.items():
            for piece in pieces:
                for tensor in piece.tensors:
                    found[id(tensor)] = _outside(tensor, names[location], piece)
        return found


def _outside(tensor: TensorProto, location: str, piece: Piece) -> TensorProto:
    header = TensorProto()
    header.CopyFrom(tensor)
    extra = [(e.key, e.value) for e in tensor.external_data if e.key not in _EXTERNAL_KEYS]
    for name in _DATA_FIELDS:
        header.ClearField(name)
    header.data_location = TensorProto.EXTERNAL
    values = (location, str(piece.offset), str(piece.length))
    for key, value in [*zip(_EXTERNAL_KEYS, values, strict=False), *extra]:
        header.external_data.add(key=key, value=value)
    # A cleared message keeps the memory of what it held; a fresh one does not.
    fresh = TensorProto()
    fresh.ParseFromString(header.SerializeToString())
    return fresh
