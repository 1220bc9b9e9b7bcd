"""A model as protobuf bytes, written piece by piece: no weight is ever set in a message, nor is the whole held twice.

`substitutes` replaces single tensors on the way out, so the caller's model is not changed. Fields may come in another
order than the protobuf library writes them, which no reader sees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, BinaryIO

from google.protobuf.unknown_fields import UnknownFieldSet  # type: ignore[import-untyped,unused-ignore]
from onnx import ModelProto, NodeProto, TensorProto

from qdqtool.kernels.sources import Source, size, tiles
from qdqtool.model import packing, walk

_LARGE = 1 << 16
_RAW_DATA = 9
_OPENED = frozenset(
    ("GraphProto", "FunctionProto", "TrainingInfoProto", "NodeProto", "AttributeProto", "SparseTensorProto", "TensorProto"),
)


@dataclass(frozen=True, slots=True)
class Stream:
    """The storage of a source, made while it is written."""

    source: Source

    @property
    def size(self) -> int:
        return self.source.dtype.nbytes(size(self.source))

    def write(self, file: BinaryIO) -> None:
        for tile in tiles(self.source):
            file.write(packing.pack(tile, self.source.dtype))


@dataclass(frozen=True, slots=True)
class Held:
    """A large message that is in memory already, serialized while it is written."""

    message: TensorProto
    size: int

    def write(self, file: BinaryIO) -> None:
        file.write(self.message.SerializeToString(deterministic=True))


Part = bytes | Stream | Held
Substitute = TensorProto | Stream
"""What to write for a tensor: another header, or (Stream) its own header and this data."""


def parts(model: ModelProto, substitutes: Mapping[int, Substitute]) -> list[Part]:
    """The bytes of a model in order; `substitutes` is keyed by the ``id`` of a tensor, which the caller keeps alive."""
    return list(_message(model, substitutes))


def length(pieces: list[Part]) -> int:
    """Bytes that the parts will make."""
    return sum(len(part) if isinstance(part, bytes) else part.size for part in pieces)


def write(pieces: list[Part], file: BinaryIO) -> None:
    """Write the parts one after the other."""
    for part in pieces:
        if isinstance(part, bytes):
            file.write(part)
        else:
            part.write(file)


def _message(message: Any, substitutes: Mapping[int, Substitute]) -> Iterator[Part]:
    if isinstance(message, TensorProto):
        yield from _tensor(message, substitutes.get(id(message)))
    elif isinstance(message, NodeProto) and not any(_special(t, substitutes) for t in walk.node_tensors(message)):
        yield message.SerializeToString(deterministic=True)
    else:
        yield from _opened(message, substitutes)


def _special(tensor: TensorProto, substitutes: Mapping[int, Substitute]) -> bool:
    return id(tensor) in substitutes or prod(tensor.dims) > _LARGE


def _tensor(tensor: TensorProto, substitute: Substitute | None) -> Iterator[Part]:
    if isinstance(substitute, Stream):
        yield tensor.SerializeToString(deterministic=True) + _tag(_RAW_DATA, substitute.size)
        yield substitute
    elif substitute is None and prod(tensor.dims) > _LARGE:
        yield Held(tensor, tensor.ByteSize())
    else:
        yield (substitute or tensor).SerializeToString(deterministic=True)


def _opened(message: Any, substitutes: Mapping[int, Substitute]) -> Iterator[Part]:
    rest = type(message)()
    inner: list[Part] = []
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.name not in _OPENED:
            _copy_field(rest, field.name, value)
            continue
        for item in [value] if hasattr(value, "ListFields") else value:
            below = list(_message(item, substitutes))
            inner += [_tag(field.number, length(below)), *below]
    yield rest.SerializeToString(deterministic=True) + _unknown(UnknownFieldSet(message))
    yield from inner


def _copy_field(target: Any, name: str, value: Any) -> None:
    if hasattr(value, "ListFields"):
        getattr(target, name).CopyFrom(value)
    elif isinstance(value, (str, bytes, int, float)):
        setattr(target, name, value)
    else:
        getattr(target, name).extend(value)


def _tag(number: int, size: int) -> bytes:
    return _varint(number << 3 | 2) + _varint(size)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _unknown(fields: Any) -> bytes:
    return b"".join(_varint(field.field_number << 3 | field.wire_type) + _unknown_value(field) for field in fields)


def _unknown_value(field: Any) -> bytes:
    match field.wire_type:
        case 0:
            return _varint(field.data & (1 << 64) - 1)
        case 1:
            return int(field.data).to_bytes(8, "little")
        case 5:
            return int(field.data).to_bytes(4, "little")
        case 3:
            return _unknown(field.data) + _varint(field.field_number << 3 | 4)
        case _:
            return _varint(len(field.data)) + bytes(field.data)
