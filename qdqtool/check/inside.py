"""Values inside: a fault that a later rounding swallows for these inputs shows where it arises.

Every value that both main graphs compute under one name is compared, as far as memory allows.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx.shape_inference
from onnx import ModelProto, TensorShapeProto, ValueInfoProto

from qdqtool import dtypes
from qdqtool.check.compare import Comparison, compare
from qdqtool.check.fragments import value_info
from qdqtool.check.randomness import random_values
from qdqtool.check.runs import Inputs, copy_in_runtime
from qdqtool.check.sessions import Setting
from qdqtool.check.steps import RUNTIME
from qdqtool.check.subject import Subject
from qdqtool.exactness import Exactness
from qdqtool.kernels.sources import Array
from qdqtool.model import tensors

_MOST_BYTES = 1 << 27
_SMALL = 1 << 10
_SHOWN = 8


def inside(original: Subject, rewritten: Subject, inputs: Inputs, exactness: Exactness, setting: Setting) -> tuple[Comparison, ...]:
    """The first values inside that differ, in the order of the original; none when all are equal.

    Raises
    ------
    CannotRun
        A copy with these values as outputs does not run.
    """
    names = _names(original.proto(), rewritten.proto(), inputs)
    if not names:
        return ()
    old = copy_in_runtime(exposed(original.proto(), names), original, setting, inputs, names)
    new = copy_in_runtime(exposed(rewritten.proto(), names), rewritten, setting, inputs, names)
    found: list[Comparison] = []
    for name in names:
        before, after = old.pop(name), new.pop(name)
        if isinstance(before, np.ndarray) and isinstance(after, np.ndarray) and len(found) < _SHOWN:
            verdict, difference = compare(before, _as_in(before, after), exactness=min(exactness, Exactness.VALUE_EQUAL))
            found += [Comparison(f"value {name} inside", verdict, difference, RUNTIME, value=name)] if verdict != "equal" else []
    return tuple(found)


def _as_in(before: Array, after: Array) -> Array:
    """Codes that were made signed, as they were."""
    if (before.dtype.kind, after.dtype.kind) == ("u", "i") and before.itemsize == after.itemsize:
        return (after.astype(np.int32) - np.iinfo(after.dtype).min).astype(before.dtype)
    return after


def exposed(model: ModelProto, names: list[str]) -> ModelProto:
    """The model itself, with these values as further outputs."""
    present = {output.name for output in model.graph.output}
    model.graph.output.extend(ValueInfoProto(name=name) for name in names if name not in present)
    return model


def _names(original: ModelProto, rewritten: ModelProto, inputs: Inputs) -> list[str]:
    """Values of a known size that both compute and neither gives, the first ones, as many as fit."""
    both = {name for node in rewritten.graph.node for name in node.output}
    left_out = {output.name for model in (original, rewritten) for output in model.graph.output} | random_values(original).keys()
    produced = [name for node in original.graph.node if node.op_type != "Constant" for name in node.output]
    known, room, names = sizes(original, inputs), _MOST_BYTES, []
    for name in produced:
        if name in both and name in known and name not in left_out and known[name] <= room:
            room -= known[name]
            names.append(name)
    return names


def sizes(model: ModelProto, inputs: Inputs) -> Mapping[str, int]:
    """Bytes of each value, by the shape inference of onnx on a copy without weights."""
    graph = model.graph
    large = [tensor for tensor in graph.initializer if tensors.nbytes(tensor) > _SMALL]
    declared = {info.name for info in graph.input}
    for tensor in large:
        if tensor.name not in declared:
            graph.input.append(value_info(tensor.name, tensors.element_type(tensor), tensor.dims))
        graph.initializer.remove(tensor)
    for info in graph.input:
        if info.name in inputs:
            shape = info.type.tensor_type.shape
            del shape.dim[:]
            shape.dim.extend(TensorShapeProto.Dimension(dim_value=size) for size in inputs[info.name].shape)
    try:
        inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception:
        return {}
    return {info.name: size for info in inferred.graph.value_info if (size := _bytes(info)) is not None}


def _bytes(info: ValueInfoProto) -> int | None:
    tensor = info.type.tensor_type
    dtype = dtypes.of_code(tensor.elem_type)
    dims = [dim.dim_value for dim in tensor.shape.dim]
    return None if dtype is None or not tensor.HasField("shape") or 0 in dims else dtype.nbytes(int(np.prod(dims)))
