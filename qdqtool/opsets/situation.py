"""What is known around a node that moves, and what its adaption makes known on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
import onnx
from onnx import NodeProto, TypeProto, defs, helper, shape_inference

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.model import tensors
from qdqtool.model.names import Names
from qdqtool.opsets.folding import Partial, fold, split

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int | None, ...]


class Situation(Protocol):
    """Answers about the values of the model; None for what is not known."""

    def type_of(self, name: str) -> ElementType | None: ...

    def shape_of(self, name: str) -> Sequence[int | None] | None: ...

    def value_of(self, name: str) -> Array | None:
        """The elements of a small constant."""
        ...


class Surroundings:
    """The situation of a node, and types, shapes and constants of the values made since."""

    def __init__(self, situation: Situation, taken: Iterable[str]) -> None:
        self._situation = situation
        self._names = Names(taken)
        self._made: dict[str, tuple[ElementType | None, Shape | None]] = {}
        self._partial: dict[str, Partial] = {}
        self.constants: dict[str, Array] = {}

    def type(self, name: str) -> ElementType | None:
        made = self._made.get(name)
        return (made[0] if made else None) or self._situation.type_of(name)

    def shape(self, name: str) -> Shape | None:
        made = self._made.get(name)
        if made and made[1] is not None:
            return made[1]
        found = self._situation.shape_of(name)
        return None if found is None else tuple(found)

    def value(self, name: str) -> Array | None:
        return self.constants[name] if name in self.constants else self._situation.value_of(name) if name not in self._made else None

    def integers(self, name: str) -> list[int] | None:
        """A small integer constant as numbers."""
        found = self.value(name)
        return None if found is None or found.dtype.kind not in "iu" else [int(i) for i in found.reshape(-1)]

    def fresh(self, wanted: str) -> str:
        """A name nothing here has."""
        return self._names.fresh(wanted)

    def add_constant(self, name: str, array: Array) -> None:
        self.constants[name] = array
        self._made[name] = (dtypes.of_numpy(array.dtype), array.shape)

    def folds(self, node: NodeProto) -> bool:
        """Whether the results of a node are constants; they are kept as such. A shape with unknown lengths is kept too."""
        if node.op_type == "Split":
            return self._split(node)
        if len(node.output) != 1:
            return False
        result = fold(node, self._operand, self.shape)
        if isinstance(result, Partial):
            self._partial[node.output[0]] = result
        elif result is not None:
            self.add_constant(node.output[0], result)
            return True
        return False

    def _split(self, node: NodeProto) -> bool:
        parts = split(node, self._operand)
        for name, part in zip(node.output, parts or (), strict=False):
            self.add_constant(name, part)
        return parts is not None

    def _operand(self, name: str) -> Array | Partial | None:
        return self._partial.get(name) or self.value(name)

    def learn(self, node: NodeProto, opset: int) -> None:
        """Types and shapes of a node's results, as onnx infers them."""
        for name, found in self._inferred(node, opset).items():
            self.declare(name, found)

    def declare(self, name: str, found: TypeProto) -> None:
        if found.WhichOneof("value") == "tensor_type":
            tensor = found.tensor_type
            dims = tuple(d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim)
            self._made[name] = (dtypes.of_code(tensor.elem_type), dims if tensor.HasField("shape") else None)

    def _inferred(self, node: NodeProto, opset: int) -> dict[str, TypeProto]:
        names = [name for name in node.input if name]
        values = {name: tensors.make(name, array) for name in names if (array := self.value(name)) is not None}
        try:
            schema = defs.get_schema(node.op_type, opset, "")
            return shape_inference.infer_node_outputs(
                schema, node, {n: self.proto(n) for n in names}, values, opset_imports=[helper.make_opsetid("", opset)]
            )
        except (shape_inference.InferenceError, RuntimeError, ValueError, defs.SchemaError, onnx.checker.ValidationError):
            return {}

    def proto(self, name: str) -> TypeProto:
        """The type of a value as onnx writes it; empty when not known."""
        dtype, shape = self.type(name), self.shape(name)
        return TypeProto() if dtype is None else helper.make_tensor_type_proto(dtype.code, shape)
