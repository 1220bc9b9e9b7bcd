"""A fragment as a model of its own."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import ModelProto, TypeProto, ValueInfoProto

from qdqtool.check.probe import Fragment
from qdqtool.dtypes import ElementType
from qdqtool.kernels.sources import materialize
from qdqtool.model import tensors

# Old enough for every runtime; the types a fragment holds are not tied to it.
_IR_VERSION = 10


def as_model(fragment: Fragment) -> ModelProto:
    """The fragment as a model, its constants as initializers inside it."""
    model = ModelProto(ir_version=_IR_VERSION)
    for domain, version in fragment.imports.items():
        model.opset_import.add(domain=domain, version=version)
    model.graph.name = "fragment"
    model.graph.node.extend(fragment.nodes)
    model.graph.input.extend(value_info(port.name, port.dtype, port.shape) for port in fragment.inputs)
    model.graph.output.extend(value_info(port.name, port.dtype, None) for port in fragment.outputs)
    model.graph.initializer.extend(tensors.make(name, materialize(source)) for name, source in fragment.constants.items())
    return model


def value_info(name: str, dtype: ElementType, shape: Sequence[int | None] | None) -> ValueInfoProto:
    """Declaration of a tensor; None is an unknown dimension, or an unknown rank for the whole shape."""
    tensor = TypeProto.Tensor(elem_type=dtype.code)
    if shape is not None:
        tensor.shape.SetInParent()
        for size in shape:
            dimension = tensor.shape.dim.add()
            if size is not None:
                dimension.dim_value = size
    return ValueInfoProto(name=name, type=TypeProto(tensor_type=tensor))
