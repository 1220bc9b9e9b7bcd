"""The first way to run a model: ONNX Runtime without optimizations, for every type its Python API can feed and read."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnxruntime as ort
from onnx import ModelProto

from qdqtool import dtypes as D
from qdqtool.dtypes import ElementType

Array = np.ndarray[Any, np.dtype[Any]]
PLAIN = (D.FLOAT, D.DOUBLE, D.FLOAT16, D.INT8, D.UINT8, D.INT16, D.UINT16, D.INT32, D.UINT32, D.INT64, D.UINT64, D.BOOL)


class CannotRun(Exception):
    """ONNX Runtime lacks a kernel, a type or an opset that the model needs."""


def session(model: ModelProto) -> ort.InferenceSession:
    """A session that computes what the graph says."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.disable_prepacking", "1")
    options.log_severity_level, options.intra_op_num_threads, options.inter_op_num_threads = 4, 1, 1
    try:
        return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise CannotRun(str(error)) from error


def run(model: ModelProto, opened: ort.InferenceSession, feeds: Mapping[str, Array]) -> list[Array]:
    """Outputs in order."""
    kinds = [D.of_code(o.type.tensor_type.elem_type) for o in model.graph.output]
    try:
        given = {name: value(array) for name, array in feeds.items()}
        values = opened.run_with_ort_values(None, given)
    except Exception as error:
        raise CannotRun(str(error)) from error
    return [_array(v, kind) for v, kind in zip(values, kinds, strict=True) if kind is not None]


def value(array: Array) -> Any:
    """An array as ONNX Runtime takes it, whatever its type."""
    kind = D.of_numpy(array.dtype)
    if kind in PLAIN:
        return ort.OrtValue.ortvalue_from_numpy(np.array(array, order="C"))
    value = ort.OrtValue.ortvalue_from_shape_and_type(list(array.shape), kind.code)
    data = pack(array, kind)
    ctypes.memmove(value.data_ptr(), data, len(data))
    return value


def _array(value: Any, kind: ElementType) -> Array:
    if kind in PLAIN:
        return np.asarray(value.numpy())
    shape = tuple(value.shape())
    size = int(np.prod(shape, dtype=np.int64))
    return unpack(ctypes.string_at(value.data_ptr(), kind.nbytes(size)), kind, shape)


def pack(array: Array, kind: ElementType) -> bytes:
    """Little-endian storage bytes, sub-byte elements low bits first."""
    raw = np.ascontiguousarray(array).reshape(-1).view(f"u{kind.numpy.itemsize}")
    if kind.bits >= 8:
        return raw.tobytes()
    bits = (raw[:, None] >> np.arange(kind.bits, dtype=np.uint8)) & 1
    return np.packbits(bits.reshape(-1), bitorder="little").tobytes()


def unpack(data: bytes, kind: ElementType, shape: tuple[int, ...]) -> Array:
    """The inverse of `pack`."""
    if kind.bits >= 8:
        return np.frombuffer(data, kind.numpy).reshape(shape)
    size = int(np.prod(shape, dtype=np.int64))
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[: size * kind.bits].reshape(size, kind.bits)
    codes = (bits << np.arange(kind.bits, dtype=np.uint8)).sum(axis=1).astype(np.int64)
    if kind.kind == "float":
        return codes.astype(np.uint8).view(kind.numpy).reshape(shape)
    return np.where(codes > kind.high, codes - (1 << kind.bits), codes).astype(kind.numpy).reshape(shape)
