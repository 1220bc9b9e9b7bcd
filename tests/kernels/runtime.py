"""One node in ONNX Runtime, all optimizations off; operands are initializers and results are read as raw memory, so that
types numpy cannot exchange with it (int4, float8 ...) work too.
"""

from __future__ import annotations

import ctypes
from functools import cache
from math import prod
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from tests.formats import bits_of

Array = np.ndarray[Any, np.dtype[Any]]


def run_node(
    op: str, inputs: list[Array | None], output: ElementType, shape: tuple[int, ...], *, opset: int, domain: str = "", **attributes: Any
) -> Array:
    """Output of the node as an array of ``output.numpy``; `None` is an absent optional input."""
    names = ["" if a is None else f"i{k}" for k, a in enumerate(inputs)]
    tensors = [_tensor(name, a) for name, a in zip(names, inputs, strict=True) if a is not None]
    node = helper.make_node(op, names, ["y"], domain=domain, **attributes)
    graph = helper.make_graph([node], "g", [], [helper.make_tensor_value_info("y", output.code, None)], tensors)
    imports = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    model = helper.make_model(graph, opset_imports=imports, ir_version=13)
    session = onnxruntime.InferenceSession(model.SerializeToString(), _options(), providers=["CPUExecutionProvider"])
    value = session.run_with_ort_values(["y"], {})[0]
    assert tuple(value.shape()) == shape
    count = prod(shape)
    raw = ctypes.string_at(value.data_ptr(), output.nbytes(count)) if count else b""
    return _unpack(np.frombuffer(bytearray(raw), np.uint8), output, count).reshape(shape)


@cache
def _options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.disable_prepacking", "1")
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return options


def _tensor(name: str, array: Array) -> TensorProto:
    row = dtypes.of_numpy(array.dtype)
    tensor = TensorProto(name=name, data_type=row.code, raw_data=_pack(array, row))
    tensor.dims.extend(array.shape)
    return tensor


def _pack(array: Array, row: ElementType) -> bytes:
    if row.bits >= 8:
        return np.ascontiguousarray(array).tobytes()
    codes = bits_of(array).reshape(-1)
    each = 8 // row.bits
    padded = np.concatenate([codes, np.zeros(-len(codes) % each, np.uint64)]).reshape(-1, each)
    return bytes((padded << np.arange(0, 8, row.bits, dtype=np.uint64)).sum(axis=1, dtype=np.uint64).astype(np.uint8))


def _unpack(raw: Array, row: ElementType, count: int) -> Array:
    if row.bits >= 8:
        return raw.view(row.numpy)
    codes = (raw[:, None] >> np.arange(0, 8, row.bits, dtype=np.uint8)).reshape(-1)[:count] & ((1 << row.bits) - 1)
    return codes.astype(np.int64).astype(row.numpy)
