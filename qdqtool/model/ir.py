"""The edge to onnx_ir: its models come in and go out as protobuf. Imported by nobody who was not given one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from onnx import ModelProto


def is_ir(model: object) -> bool:
    """Whether `model` is an ``onnx_ir.Model``; asking does not import it."""
    return type(model).__module__.partition(".")[0] == "onnx_ir"


def to_proto(model: Any) -> tuple[ModelProto, Path | None]:
    """The protobuf of an ``onnx_ir.Model``, and the folder of its external data when it has some."""
    import onnx_ir

    tensors = (value.const_value for graph in model.graphs() for value in graph.initializers.values())
    folders = [Path(t.base_dir) for t in tensors if isinstance(t, onnx_ir.ExternalTensor) and t.base_dir]
    return onnx_ir.to_proto(model), next(iter(folders), None)


def from_proto(proto: ModelProto) -> Any:
    """An ``onnx_ir.Model`` of a result."""
    import onnx_ir

    return onnx_ir.from_proto(proto)
