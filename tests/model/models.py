"""Small models for the tests of the file layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper


def outside(
    name: str, dims: list[int], location: str, offset: object = None, length: object = None, code: int = TensorProto.FLOAT
) -> TensorProto:
    """A tensor whose data lies in a file."""
    tensor = TensorProto(name=name, data_type=code, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        if value is not None:
            tensor.external_data.add(key=key, value=str(value))
    return tensor


def adding(*constants: TensorProto, shape: list[int] | None = None, opset: int = 21, ir: int = 10) -> ModelProto:
    """``y = x + a + b + ...`` for float constants of one shape."""
    nodes, last = [], "x"
    for number, constant in enumerate(constants):
        result = "y" if number == len(constants) - 1 else f"t{number}"
        nodes.append(helper.make_node("Add", [last, constant.name], [result], name=f"add{number}"))
        last = result
    dims = list(constants[0].dims) if shape is None else shape
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], initializer=list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)


def write_data(path: Path, *values: float, count: int = 4) -> None:
    """A data file of `count` floats for each value."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(np.full(count, value, np.float32).tobytes() for value in values))


def saved(model: ModelProto, path: Path) -> Path:
    """The model as a file; its data is not touched."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())
    return path


def floats(name: str, *values: float, count: int = 4) -> TensorProto:
    """An inline tensor of `count` floats for each value."""
    return numpy_helper.from_array(np.repeat(np.array(values, np.float32), count), name)


def read(path: Path) -> ModelProto:
    """The protobuf in a file, without its data."""
    return onnx.load(path, load_external_data=False)
