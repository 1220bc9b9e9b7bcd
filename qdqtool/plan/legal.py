"""One question about operators: may this one be written at that opset, with these types and attributes?"""

from __future__ import annotations

from functools import lru_cache

from onnx import AttributeProto, NodeProto, helper

from qdqtool.dtypes import ElementType
from qdqtool.expressions import Attribute
from qdqtool.opsets.legality import ABSENT, legal


def attribute_proto(name: str, value: Attribute) -> AttributeProto:
    return helper.make_attribute(name, list(value) if isinstance(value, tuple) else value)


@lru_cache(maxsize=1 << 14)
def illegal(
    op: str,
    inputs: tuple[ElementType | str | None, ...],
    output: ElementType,
    attributes: tuple[tuple[str, Attribute], ...],
    opset: int,
    result: int = 0,
    results: int = 1,
) -> tuple[str, ...]:
    """Reasons against a main-domain operator, one of whose results has this type; an input of ``""`` is absent."""
    operands = [ABSENT if i == "" else i for i in inputs]
    protos = {name: attribute_proto(name, value) for name, value in attributes}
    return tuple(legal(op, "", operands, [output if number == result else None for number in range(results)], protos, opset))


def node_problems(node: NodeProto, opset: int) -> list[str]:
    """Reasons against a node whatever its types; attributes that refer to a function's count as written."""
    inputs = [None if name else ABSENT for name in node.input]
    outputs = [None if name else ABSENT for name in node.output]
    return legal(node.op_type, node.domain, inputs, outputs, {a.name: a for a in node.attribute}, opset)
