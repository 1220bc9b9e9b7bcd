"""What an adapter works with: questions about its node, and the nodes it writes instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, helper

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.exactness import NO_BOUND, Bound, Exactness
from qdqtool.opsets import schemas
from qdqtool.opsets.attributes import Opaque, Value
from qdqtool.opsets.situation import Array, Shape, Surroundings


@dataclass(frozen=True, slots=True)
class Flight:
    """A node on its way, with the opset at which it means what it says.

    `own` ones were written by an adapter; graphs in a node are the model's, which moves them itself, unless they are `ours`.
    """

    node: NodeProto
    opset: int
    own: bool = True
    ours: bool = True


@dataclass(slots=True)
class Draft:
    """One step of one node: from the opset `here`, where it means what it says, to `there`, where what is written holds.

    Operands and results go by position; what is asked of one that is left out is None.
    """

    node: NodeProto
    here: int
    there: int
    goal: int
    around: Surroundings
    ours: bool = True
    flights: list[Flight] = field(default_factory=list)
    exactness: Exactness = Exactness.BIT_EQUAL
    bound: Bound = NO_BOUND

    def input(self, index: int) -> str:
        """Name of an operand; empty when it is left out."""
        return self.node.input[index] if index < len(self.node.input) else ""

    def output(self, index: int) -> str:
        return self.node.output[index] if index < len(self.node.output) else ""

    def type(self, index: int) -> ElementType | None:
        return self.around.type(self.input(index)) if self.input(index) else None

    def shape(self, index: int = 0) -> Shape | None:
        return self.around.shape(self.input(index)) if self.input(index) else None

    def static(self, index: int = 0) -> tuple[int, ...] | None:
        """The shape when every length is known."""
        shape = self.shape(index)
        return None if shape is None or None in shape else tuple(d for d in shape if d is not None)

    def rank(self, index: int = 0) -> int | None:
        shape = self.shape(index)
        return None if shape is None else len(shape)

    def value(self, index: int) -> Array | None:
        return self.around.value(self.input(index)) if self.input(index) else None

    def integers(self, index: int) -> list[int] | None:
        """The elements of an integer constant."""
        return self.around.integers(self.input(index)) if self.input(index) else None

    def get(self, name: str) -> Any:
        """An attribute as it counts here: written, or the default; strings as text, lists as tuples."""
        for attribute in self.node.attribute:
            if attribute.name == name:
                return _plain(helper.get_attribute_value(attribute)) if not attribute.ref_attr_name else None
        schema = schemas.schema(self.node.op_type, "", self.here)
        declared = schema.attributes.get(name) if schema else None
        default: Value | None = declared.default if declared else None
        return None if isinstance(default, Opaque) else _plain(default)

    def axis(self, name: str = "axis", rank: int | None = None) -> int | None:
        """An axis counted from the front; None when that needs a rank that is not known."""
        given, rank = self.get(name), self.rank() if rank is None else rank
        return given if given >= 0 else None if rank is None else given + rank

    def ints(self, *values: int) -> str:
        """A new int64 vector."""
        return self.constant(np.array(values, np.int64), "_".join(map(str, values[:4])))

    def integer(self, value: int) -> str:
        """A new int64 scalar."""
        return self.scalar(value, dtypes.INT64)

    def scalar(self, value: float, dtype: ElementType) -> str:
        return self.constant(np.array(value).astype(dtype.numpy), "const")

    def constant(self, array: Array, what: str) -> str:
        """The name of a new constant."""
        name = self.around.fresh(f"{self._base()}_{what}")
        self.around.add_constant(name, array)
        return name

    def add(self, op: str, *inputs: str, into: str | Sequence[str] = "", opset: int = 0, **attributes: Any) -> str:
        """Write a node; gives the name of its first result, a fresh one unless `into` names it."""
        outputs = [into] if isinstance(into, str) and into else list(into) or [self.fresh(op.lower())]
        given = {name: value for name, value in attributes.items() if value is not None}
        self.flights.append(Flight(helper.make_node(op, _trimmed(inputs), outputs, **given), opset or self.there))
        return outputs[0]

    def cast(self, name: str, dtype: ElementType, into: str = "") -> str:
        return self.add("Cast", name, into=into, to=dtype.code)

    def fresh(self, what: str) -> str:
        return self.around.fresh(f"{self._base()}_{what}")

    def keep(
        self,
        op: str = "",
        *,
        inputs: Sequence[str] | None = None,
        outputs: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        **attributes: Any,
    ) -> None:
        """Write the node itself with other operands, results or attributes; those of `drop` go, and so do those of None."""
        node = NodeProto()
        node.CopyFrom(self.node)
        node.op_type = op or node.op_type
        if inputs is not None:
            node.input[:] = _trimmed(inputs)
        if outputs is not None:
            node.output[:] = _trimmed(outputs)
        for index in reversed([i for i, a in enumerate(node.attribute) if a.name in (*attributes, *drop)]):
            del node.attribute[index]
        node.attribute.extend(helper.make_attribute(n, v) for n, v in attributes.items() if v is not None)
        self.flights.append(Flight(node, self.there, ours=self.ours))

    def rounds(self, ulps_of_maximum: float = 4, dtype: ElementType | None = None) -> None:
        """What is written computes the same formula in another order."""
        self.exactness = max(self.exactness, Exactness.ROUNDING)
        self.bound = self.bound + Bound(of_maximum=ulps_of_maximum * epsilon(dtype or self.type(0)))

    def approximates(self) -> None:
        """What is written means something else, which the specification allows."""
        self.exactness = Exactness.APPROXIMATE

    def values_only(self) -> None:
        """Zeros may change their sign."""
        self.exactness = max(self.exactness, Exactness.VALUE_EQUAL)

    def _base(self) -> str:
        return next((o for o in self.node.output if o), self.node.op_type)


Adapter = Callable[[Draft], str | None]
"""Writes a draft, or gives the reason why it cannot."""


def epsilon(dtype: ElementType | None) -> float:
    """Distance of 1 from the next number of a type."""
    bits = {dtypes.DOUBLE: 52, dtypes.FLOAT16: 10, dtypes.BFLOAT16: 7}.get(dtype or dtypes.FLOAT, 23)
    return float(2.0**-bits)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, TensorProto | GraphProto) or value is None or isinstance(value, int | float | str):
        return value
    return tuple(_plain(v) for v in value) if isinstance(value, Iterable) else value


def _trimmed(names: Sequence[str]) -> list[str]:
    kept = list(names)
    while kept and not kept[-1]:
        kept.pop()
    return kept
