"""A model as protobuf bytes, written piece by piece: no weight is ever set in a message, nor is the whole held twice.

`substitutes` replaces single tensors on the way out, so the caller's model is not changed. Fields may come in another
order than the protobuf library writes them, which no reader sees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, BinaryIO

from google.protobuf.unknown_fields import UnknownFieldSet  # type: ignore[import-untyped,unused-ignore]
from onnx import ModelProto, NodeProto, TensorProto

from qdqtool.model import walk
from qdqtool.model.stream import Stream, Wrote, ignore

_LARGE = 1 << 16
_RUN = 256
"""Plain messages that are serialized together, which takes a third of the time."""
_RAW_DATA = 9
_OPENED = frozenset(
    ("GraphProto", "FunctionProto", "TrainingInfoProto", "NodeProto", "AttributeProto", "SparseTensorProto", "TensorProto"),
)


@dataclass(frozen=True, slots=True)
class Held:
    """A large message that is in memory already, serialized while it is written."""

    message: TensorProto
    size: int

    def write(self, file: BinaryIO, wrote: Wrote) -> None:
        file.write(self.message.SerializeToString(deterministic=True))
        wrote(self.size)


Part = bytes | Stream | Held
Substitute = TensorProto | Stream
"""What to write for a tensor: another header, or (Stream) its own header and this data."""


def parts(model: ModelProto, substitutes: Mapping[int, Substitute]) -> list[Part]:
    """The bytes of a model in order; `substitutes` is keyed by the ``id`` of a tensor, which the caller keeps alive."""
    return list(_message(model, substitutes))


def length(pieces: list[Part]) -> int:
    """Bytes that the parts will make."""
    return sum(len(part) if isinstance(part, bytes) else part.size for part in pieces)


def write(pieces: list[Part], file: BinaryIO, wrote: Wrote = ignore) -> None:
    """Write the parts one after the other."""
    for part in pieces:
        if isinstance(part, bytes):
            file.write(part)
            wrote(len(part))
        else:
            part.write(file, wrote)


def _message(message: Any, substitutes: Mapping[int, Substitute]) -> Iterator[Part]:
    if isinstance(message, TensorProto):
        yield from _tensor(message, substitutes.get(id(message)))
    elif _plain(message, substitutes):
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
        if hasattr(value, "ListFields"):
            inner += _tagged(field.number, value, substitutes)
        else:
            inner += _repeated(message, field, value, substitutes)
    yield rest.SerializeToString(deterministic=True) + _unknown(UnknownFieldSet(message))
    yield from inner


def _tagged(number: int, message: Any, substitutes: Mapping[int, Substitute]) -> Iterator[Part]:
    below = list(_message(message, substitutes))
    yield _tag(number, length(below))
    yield from below


def _repeated(message: Any, field: Any, items: Iterable[Any], substitutes: Mapping[int, Substitute]) -> Iterator[Part]:
    """The items of a field of `message`; neighbours that are written as they are, in one go."""
    run: list[Any] = []
    for item in items:
        plain = _plain(item, substitutes)
        if run and (not plain or len(run) == _RUN):
            yield _together(message, field.name, run)
            run = []
        if plain:
            run.append(item)
        else:
            yield from _tagged(field.number, item, substitutes)
    if run:
        yield _together(message, field.name, run)


def _plain(message: Any, substitutes: Mapping[int, Substitute]) -> bool:
    if isinstance(message, TensorProto):
        return not _special(message, substitutes)
    if not isinstance(message, NodeProto):
        return False
    return not message.attribute or not any(_special(t, substitutes) for t in walk.node_tensors(message))


def _together(message: Any, name: str, items: list[Any]) -> bytes:
    batch = type(message)()
    getattr(batch, name).extend(items)
    return bytes(batch.SerializeToString(deterministic=True))


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
