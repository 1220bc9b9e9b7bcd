"""Arrays in and out of ONNX Runtime, for every element type it knows, those smaller than a byte too."""

from __future__ import annotations

import ctypes
from math import prod

import numpy as np
import onnxruntime as ort

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.kernels.sources import Array
from qdqtool.model.packing import pack, unpack

_ORT_NAMES = {"float": "float32", "double": "float64"}


def element_type(ort_type: str) -> ElementType | None:
    """Row of a type as ONNX Runtime spells it, ``tensor(float)``; None for sequences, maps and optionals."""
    if not ort_type.startswith("tensor("):
        return None
    name = ort_type.removeprefix("tensor(").removesuffix(")")
    return dtypes.of_name(_ORT_NAMES.get(name, name))


def to_ort(array: Array, dtype: ElementType) -> ort.OrtValue:
    """A value ONNX Runtime can be fed with; strings cannot."""
    value = ort.OrtValue.ortvalue_from_shape_and_type(list(array.shape), dtype.code, "cpu", 0)
    if array.size:
        _memory(value, dtype.nbytes(array.size))[:] = pack(array.astype(dtype.numpy, copy=False), dtype)
    return value


def from_ort(value: ort.OrtValue) -> Array:
    """A copy of a tensor that ONNX Runtime returned."""
    shape = tuple(value.shape())
    dtype = dtypes.of_code(value.element_type())
    if dtype is None or dtype.kind == "string":
        return np.asarray(value.numpy())
    size = dtype.nbytes(prod(shape))
    data = _memory(value, size).tobytes() if size else b""
    return unpack(data, dtype, 0, prod(shape)).reshape(shape)


def _memory(value: ort.OrtValue, size: int) -> memoryview:
    """The value's own bytes, not a copy; they live as long as the value."""
    return memoryview((ctypes.c_uint8 * size).from_address(value.data_ptr())).cast("B")
