"""Ways to damage a model file: its bytes, or the fields of its messages."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError
from onnx import ModelProto

INTEGERS = (0, 1, -1, 2, 7, 64, 127, 255, 1 << 16, (1 << 31) - 1, -(1 << 31))
LONG = (*INTEGERS, (1 << 63) - 1, -(1 << 63), 1 << 40)
FLOATS = (0.0, -1.0, float("nan"), float("inf"), 1e-45, 3e38)
WORDS = (
    "",
    "x",
    "y",
    "QuantizeLinear",
    "DequantizeLinear",
    "Constant",
    "If",
    "MatMul",
    "axis",
    "block_size",
    "../../etc/passwd",
    "ai.onnx",
)


def damaged(data: bytes, seed: int) -> bytes:
    """One of many damaged versions of a file."""
    chance = random.Random(seed)
    return chance.choice(WAYS)(data, chance)


def flipped(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def truncated(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def spliced(data: bytes, chance: random.Random) -> bytes:
    """A stretch of bytes removed, doubled or put elsewhere."""
    start = chance.randrange(len(data))
    piece = data[start : start + chance.randrange(1, 40)]
    rest = data[:start] + data[start + len(piece) :]
    place = chance.randrange(len(rest) + 1)
    return chance.choice((rest, data[:start] + piece + data[start:], rest[:place] + piece + rest[place:]))


def swapped(data: bytes, chance: random.Random) -> bytes:
    """Some fields get other values, or those of other fields of the same kind; or they are removed, doubled, or change places."""
    model = ModelProto.FromString(data)
    for _ in range(chance.choice((1, 1, 2, 3))):
        fields = [(m, f) for m in messages(model) for f, _ in m.ListFields()]
        if not fields:
            break
        message, field = chance.choice(fields)
        if repeated(field):
            _list(message, field, chance, model)
        elif field.message_type is not None or chance.random() < 0.2:
            message.ClearField(field.name)
        else:
            _assign(message, field, _value(field, chance, model))
    return bytes(model.SerializeToString())


def _list(message: Any, field: FieldDescriptor, chance: random.Random, model: ModelProto) -> None:
    items = getattr(message, field.name)
    place, other = chance.randrange(len(items)), chance.randrange(len(items))
    way = chance.randrange(4)
    if way == 0:
        del items[place]
    elif way == 1:
        items.append(items[place])
    elif field.message_type is None:
        items[place] = items[other] if way == 2 else _value(field, chance, model)
    else:
        kept = type(items[place])()
        kept.CopyFrom(items[place])
        items[place].CopyFrom(items[other])
        items[other].CopyFrom(kept)


def _assign(message: Any, field: FieldDescriptor, value: Any) -> None:
    setattr(message, field.name, value)


def _value(field: FieldDescriptor, chance: random.Random, model: ModelProto) -> Any:
    if chance.random() < 0.5:
        peers = [v for m in messages(model) for f, v in m.ListFields() if f.cpp_type == field.cpp_type and not repeated(f)]
        peers = [v for v in peers if field.cpp_type != FieldDescriptor.CPPTYPE_ENUM]
        if peers and field.type == FieldDescriptor.TYPE_STRING:
            peers = [v for v in peers if isinstance(v, str)]
        if peers and field.cpp_type != FieldDescriptor.CPPTYPE_STRING:
            return chance.choice(peers)
    return chance.choice(_CHOICES[field.cpp_type](field))


def _text(field: FieldDescriptor) -> tuple[Any, ...]:
    return WORDS if field.type == FieldDescriptor.TYPE_STRING else tuple(word.encode() for word in WORDS)


_CHOICES: dict[int, Callable[[FieldDescriptor], tuple[Any, ...]]] = {
    FieldDescriptor.CPPTYPE_INT32: lambda f: INTEGERS,
    FieldDescriptor.CPPTYPE_INT64: lambda f: LONG,
    FieldDescriptor.CPPTYPE_UINT64: lambda f: tuple(v for v in LONG if v >= 0),
    FieldDescriptor.CPPTYPE_FLOAT: lambda f: FLOATS,
    FieldDescriptor.CPPTYPE_DOUBLE: lambda f: FLOATS,
    FieldDescriptor.CPPTYPE_ENUM: lambda f: tuple(v.number for v in f.enum_type.values),
    FieldDescriptor.CPPTYPE_STRING: _text,
}


def repeated(field: FieldDescriptor) -> bool:
    return bool(field.is_repeated)


def messages(message: Any) -> Iterator[Any]:
    """A message and all below it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in value if repeated(field) else (value,):
                yield from messages(inner)


def twice(data: bytes, chance: random.Random) -> bytes:
    """Fields, then bytes."""
    changed = swapped(data, chance)
    return flipped(changed, chance) if changed else changed


def patched(data: bytes, chance: random.Random) -> bytes:
    """Bytes flipped until the result is still a model, so that damage gets past the parser."""
    for _ in range(20):
        changed = flipped(data, chance)
        try:
            ModelProto.FromString(changed)
        except DecodeError:
            continue
        return changed
    return data


WAYS = (flipped, truncated, spliced, swapped, swapped, swapped, swapped, patched, patched, twice)
