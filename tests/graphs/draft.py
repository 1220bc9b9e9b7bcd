"""A graph being written: constants, nodes and ports by keyword, with values drawn from the case's own seed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    SparseTensorProto,
    TensorProto,
    ValueInfoProto,
    helper,
    numpy_helper,
)

from qdqtool.dtypes import ElementType

RELEASE_IR = {
    10: 5,
    11: 6,
    12: 7,
    13: 7,
    14: 7,
    15: 8,
    16: 8,
    17: 8,
    18: 8,
    19: 9,
    20: 9,
    21: 10,
    22: 10,
    23: 11,
    24: 12,
    25: 13,
    26: 13,
    27: 13,
    28: 14,
}
MICROSOFT = "com.microsoft"
Shape = Sequence[int | str | None] | None


def digest(text: str) -> int:
    """A number that depends on the text alone, in every process."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


class Draft:
    """A graph (or a body: `child`) under construction; `domain` is where its quantize and dequantize nodes live.

    `whole` is set where the model comes from a file.
    """

    def __init__(self, seed: str, opset: int, *, domain: str = "", ir: int | None = None, parent: Draft | None = None) -> None:
        self.opset, self.domain, self.ir = opset, domain, ir or RELEASE_IR[opset]
        self.rng = np.random.default_rng(digest(seed))
        self.seed = seed
        self.parent = parent
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []
        self.inputs: list[ValueInfoProto] = []
        self.outputs: list[ValueInfoProto] = []
        self.functions: list[FunctionProto] = []
        self.sparse: list[SparseTensorProto] = []
        self.finish: list[Any] = []
        self.whole: ModelProto | None = None
        self._names: set[str] = set()

    def child(self, name: str) -> Draft:
        """A subgraph's body; its fresh names carry `name`."""
        return Draft(f"{self.seed}/{name}", self.opset, domain=self.domain, parent=self)

    def fresh(self, stem: str) -> str:
        prefix = self.seed.rsplit("/", 1)[1] + "_" if self.parent else ""
        name, number = prefix + stem, 1
        while name in self._names:
            number += 1
            name = f"{prefix}{stem}_{number}"
        self._names.add(name)
        return name

    def constant(self, stem: str, array: np.ndarray[Any, Any]) -> str:
        name = self.fresh(stem)
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def integers(self, stem: str, values: Sequence[int]) -> str:
        return self.constant(stem, np.array(values, np.int64))

    def input(self, stem: str, dtype: ElementType, shape: Shape) -> str:
        name = self.fresh(stem)
        self.inputs.append(helper.make_tensor_value_info(name, dtype.code, shape))
        return name

    def node(self, op: str, inputs: Sequence[str], *, domain: str = "", out: str | None = None, count: int = 1, **attributes: Any) -> str:
        outputs = [out or self.fresh(f"{op.lower()}_out") if i == 0 else self.fresh(f"{op.lower()}_out{i}") for i in range(count)]
        kept = {k: v for k, v in attributes.items() if v is not None}
        self.nodes.append(helper.make_node(op, inputs, outputs, name=f"{outputs[0]}_node", domain=domain, **kept))
        return outputs[0]

    def output(self, name: str, dtype: ElementType, shape: Shape) -> None:
        self.outputs.append(helper.make_tensor_value_info(name, dtype.code, shape))

    def quantize(self, x: str, scale: str, zero: str = "", **attributes: Any) -> str:
        return self.node("QuantizeLinear", [x, scale, *([zero] if zero else [])], domain=self.domain, out=self.fresh("codes"), **attributes)

    def dequantize(self, q: str, scale: str, zero: str = "", **attributes: Any) -> str:
        return self.node(
            "DequantizeLinear", [q, scale, *([zero] if zero else [])], domain=self.domain, out=self.fresh("real"), **attributes
        )

    def graph(self, name: str) -> GraphProto:
        return helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.initializers, sparse_initializer=self.sparse)

    def model(self) -> ModelProto:
        if self.whole is not None:
            return self.whole
        imports = [helper.make_opsetid("", self.opset)]
        if self.domain:
            imports.append(helper.make_opsetid(self.domain, 1))
        imports += [helper.make_opsetid(d, 1) for d in sorted({f.domain for f in self.functions})]
        model = helper.make_model(
            self.graph("main"), opset_imports=imports, ir_version=self.ir, functions=self.functions, producer_name="qdqtool-tests"
        )
        for step in self.finish:
            step(model)
        return model


def reference(name: str, of: str, kind: AttributeProto.AttributeType) -> AttributeProto:
    """An attribute that refers to the enclosing function's."""
    attribute = AttributeProto()
    attribute.name, attribute.ref_attr_name, attribute.type = name, of, kind
    return attribute


def accepts(op: str, dtype: ElementType, opset: int) -> bool:
    """Does any port of `op` take that element type at `opset`?"""
    name = {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)
    schema = onnx.defs.get_schema(op, opset)
    return any(f"tensor({name})" in c.allowed_type_strs for c in schema.type_constraints)
