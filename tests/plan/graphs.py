"""Models from ONNX text, constants by keyword; and what a plan or a conversion makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, parser

import qdqtool
from qdqtool import dtypes
from qdqtool.conversion import Conversion
from qdqtool.model import tensors, walk
from qdqtool.model.graph import MAIN, Scope, View
from qdqtool.plan.build import Builder
from qdqtool.plan.target import Target

CODES = np.arange(-8, 8).reshape(2, 8)
INT4 = CODES.astype(dtypes.INT4.numpy)
INT8 = CODES.astype(np.int8)
TENTH = np.float32(0.1)


def model(text: str, opset: int = 21, ir: int = 10, domains: dict[str, int] | None = None, **constants: Any) -> ModelProto:
    """``g (float[2] x) => (float[2] y) { ... }``, functions after it; keywords become initializers of the main graph."""
    imports = ", ".join(f'"{name}": {version}' for name, version in {"": opset, **(domains or {})}.items())
    proto = parser.parse_model(f"<ir_version: {ir}, opset_import: [{imports}]>\n{text}")
    proto.graph.initializer.extend(tensors.make(name, np.asarray(value)) for name, value in constants.items())
    for number, node in enumerate(proto.graph.node):
        node.name = f"n{number}"
    for tensor in walk.tensors(proto):
        if tensor.data_type in (dtypes.INT4.code, dtypes.UINT4.code) and tensor.int32_data:
            _pack(tensor)
    return proto


def _pack(tensor: TensorProto) -> None:
    """The parser of onnx 1.23 gives each 4-bit element a number of its own."""
    dtype = dtypes.of_code(tensor.data_type)
    assert dtype is not None
    tensor.CopyFrom(tensors.make(tensor.name, np.array(tensor.int32_data).astype(dtype.numpy).reshape(tensor.dims)))


def planned(proto: ModelProto, opset: int, **options: Any) -> Builder:
    """A builder that has made its plan."""
    builder = Builder(View(proto), Target(opset, **options), None)
    builder.build()
    return builder


def main_of(view: View) -> Scope:
    return view.scopes[MAIN]


def converted(proto: ModelProto, opset: int, *, check: bool = False, **options: Any) -> Conversion:
    """Without the closing check, so that a test stands on its own feet."""
    return qdqtool.convert(proto, opset=opset, check=check, **options)


def ops(proto: ModelProto) -> list[str]:
    return [node.op_type for node in proto.graph.node]


def initializers(proto: ModelProto) -> dict[str, Any]:
    return {t.name: tensors.array(t, None) for t in proto.graph.initializer}


def value_info(name: str, dtype: dtypes.ElementType, shape: tuple[int | str, ...]) -> Any:
    return helper.make_tensor_value_info(name, dtype.code, shape)
