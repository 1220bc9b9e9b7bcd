"""Tensors whose data lies in the protobuf: as raw bytes or in the field of their type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import TensorProto

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.errors import Unreadable
from qdqtool.model import packing
from qdqtool.model.packing import Array

_SMALL = 1 << 20

_FIELDS: dict[ElementType, str] = {
    dtypes.FLOAT: "float_data",
    dtypes.COMPLEX64: "float_data",
    dtypes.DOUBLE: "double_data",
    dtypes.COMPLEX128: "double_data",
    dtypes.INT64: "int64_data",
    dtypes.UINT32: "uint64_data",
    dtypes.UINT64: "uint64_data",
    dtypes.STRING: "string_data",
}


@dataclass(slots=True)
class RawSource:
    """A tensor in ``raw_data``.

    The protobuf gives its bytes only as a copy, so a large one is let go when its end has been read.
    """

    tensor: TensorProto
    dtype: ElementType
    shape: tuple[int, ...]
    nbytes: int
    _data: bytes | None = None

    @property
    def parallel(self) -> bool:
        """A large one is let go by whichever thread comes to its end, and would be copied again by the other."""
        return self.nbytes <= _SMALL

    def read(self, start: int, stop: int) -> Array:
        data, skip = self._bytes(start, stop)
        return packing.unpack(data, self.dtype, skip, stop - start)

    def read_storage(self, start: int, stop: int, out: Array) -> None:
        out[:] = np.frombuffer(self._bytes(start, stop)[0], np.uint8)

    def _bytes(self, start: int, stop: int) -> tuple[memoryview, int]:
        """The storage of a range, and how many elements of it come before the range."""
        held = self._data
        data = self.tensor.raw_data if held is None else held
        first, end, skip = packing.byte_range(self.dtype, start, stop)
        self._data = data if self.nbytes <= _SMALL or end < self.nbytes else None
        return memoryview(data)[first:end], skip


def has_data(tensor: TensorProto) -> bool:
    """Whether the protobuf itself holds data of this tensor."""
    return tensor.HasField("raw_data") or any(len(getattr(tensor, field)) for field in {*_FIELDS.values(), "int32_data"})


def require_length(tensor: TensorProto, found: int, expected: int, unit: str) -> None:
    """Unreadable when a tensor holds more or less than its type and shape ask for."""
    if found != expected:
        why = f"its type and shape {list(tensor.dims)} ask for {expected} {unit}"
        hint = "the file is damaged; export it again"
        raise Unreadable("constant-length", f"tensor '{tensor.name}' holds {found} {unit}", why=why, hint=hint)


def typed(tensor: TensorProto, dtype: ElementType, count: int) -> Array:
    """The `count` elements of the field that ONNX prescribes for `dtype`, as a 1-D array of ``dtype.numpy``."""
    require_entries(tensor, dtype, count)
    values = getattr(tensor, _FIELDS.get(dtype, "int32_data"))
    if dtype is dtypes.STRING:
        return np.array([text(value) for value in values], object)
    if dtype in _FIELDS:
        return _wide(values, dtype)
    return _narrow(np.array(values, np.int32), dtype, count)


def require_entries(tensor: TensorProto, dtype: ElementType, count: int) -> None:
    """As `require_length`, for a tensor in the field of its type."""
    found = len(getattr(tensor, _FIELDS.get(dtype, "int32_data")))
    if dtype.bits in (2, 4):
        require_length(tensor, found, dtype.nbytes(count), "bytes")
    else:
        parts = 2 if dtype.kind == "complex" else 1
        require_length(tensor, found, count * parts, "strings" if dtype is dtypes.STRING else "numbers")


def text(data: bytes) -> str:
    """A string element; bytes that are no UTF-8 survive the way back."""
    return data.decode("utf-8", "surrogateescape")


def _wide(values: Any, dtype: ElementType) -> Array:
    part = np.dtype(f"f{dtype.numpy.itemsize // 2}") if dtype.kind == "complex" else dtype.numpy
    return np.array(values, np.uint64 if dtype.kind == "uint" else part).astype(part, copy=False).view(dtype.numpy)


def _narrow(values: Array, dtype: ElementType, count: int) -> Array:
    """Codes in ``int32_data``: one for each entry, but 2- and 4-bit types fill its low byte; float16 and the like as bits."""
    if dtype.bits in (2, 4):
        return packing.unpack(values.astype(np.uint8).tobytes(), dtype, 0, count)
    if dtype.bits == 6:
        return (values & 0x3F).astype(np.uint8).view(dtype.numpy)
    return values.astype(f"u{dtype.numpy.itemsize}").view(dtype.numpy)
