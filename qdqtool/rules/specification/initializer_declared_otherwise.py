"""A graph input or ``value_info`` declares another type or shape than the initializer of its name has.

**Why it matters**: an initializer that is also an input is its default value, so the two must agree; ONNX Runtime refuses the
model. It reads no ``value_info`` of initializers, so there it is a warning: ``onnx.checker`` and shape inference refuse it.

**Bad**: weights re-encoded as int8, and still listed as a float32 input

**Good**: the input taken away, or declared as int8

**Fix**: take the declaration away.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnx import TensorProto

from qdqtool import dtypes
from qdqtool.findings import Problem, Severity
from qdqtool.linting.forms import shown
from qdqtool.linting.subject import Subject
from qdqtool.plan.types import Type, declared

CODE = "QDQ127"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    graph = subject.proto.graph
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for values, what in ((graph.input, "graph input"), (graph.value_info, "value_info")):
        severity: Severity | None = "warning" if what == "value_info" else None
        for value in values:
            tensor = tensors.get(value.name)
            fault = "" if tensor is None else _fault(declared(value), tensor)
            if fault:
                yield Problem("main", f"{what} '{value.name}' {fault}", "take the declaration away", about=value.name, severity=severity)


def _fault(told: Type, tensor: TensorProto) -> str:
    dtype, dims = dtypes.of_code(tensor.data_type), tuple(tensor.dims)
    if told.dtype is not None and dtype is not None and told.dtype is not dtype:
        return f"is declared as {told.dtype}, the initializer is {dtype}"
    if told.shape is None or (len(told.shape) == len(dims) and all(a in (None, b) for a, b in zip(told.shape, dims, strict=True))):
        return ""
    return f"is declared as {shown(told.shape)}, the initializer is {shown(dims)}"
