"""From expressions to nodes: names, constants with their homes, one node for equal operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from onnx import NodeProto, helper

from qdqtool.expressions import Computed, Const, Expr, Literal, Op, Runtime, Stored
from qdqtool.model.names import Names
from qdqtool.plan.legal import attribute_proto

ConstantName = Callable[[Const, str], str]

_RETYPED = ("cast", "onnx_cast", "pack_rows", "unpack_rows", "unpack_columns")
"""Kernels whose results are called by their type."""


@dataclass(slots=True)
class Emitter:
    """Writes the nodes that stand for one replaced node."""

    names: Names
    constant: ConstantName
    original: NodeProto
    nodes: list[NodeProto] = field(default_factory=list)
    _done: dict[Expr, str] = field(default_factory=dict)
    _groups: dict[Any, tuple[str, ...]] = field(default_factory=dict)

    def write(self, expr: Expr, output: str) -> None:
        """Nodes that compute `expr` into `output`; the last inherits the original's name, doc string and metadata."""
        if isinstance(expr, Op) and expr.results == 1 and expr not in self._done:
            self._operator(expr, output)
        else:
            self.nodes.append(helper.make_node("Identity", [self.value(expr, output)], [output]))
        last = self.nodes[-1]
        if output == self.original.output[0]:
            _inherit(last, self.original)
        last.metadata_props.extend(self.original.metadata_props)

    def value(self, expr: Expr, output: str) -> str:
        """The name under which nodes find `expr`."""
        match expr:
            case Runtime():
                return expr.name
            case Stored() | Literal() | Computed():
                return self.constant(expr, output)
            case Op():
                if expr.results > 1:
                    return self._several(expr, output)
                if expr not in self._done:
                    self._operator(expr, self.names.fresh(f"{output}_{expr.op.lower()}"))
                return self._done[expr]
        raise TypeError(f"{type(expr).__name__} is not legalized")

    def _several(self, op: Op, output: str) -> str:
        """The name of one of its results; the node that gives them all is written once."""
        same = op.op, op.domain, op.inputs, op.attributes
        if same not in self._groups:
            self._operator(op, self.names.fresh(f"{output}_{op.op.lower()}"))
            more = [self.names.fresh(f"{output}_{op.op.lower()}_{number}") for number in range(1, op.results)]
            self.nodes[-1].output.extend(more)
            self._groups[same] = tuple(self.nodes[-1].output)
        return self._groups[same][op.result]

    def _operator(self, op: Op, output: str) -> None:
        inputs = ["" if part is None else self.value(part, self.original.output[0]) for part in op.inputs]
        node = NodeProto(op_type=op.op, domain=op.domain or None)
        node.input.extend(inputs)
        node.output.append(output)
        node.attribute.extend(attribute_proto(name, value) for name, value in op.attributes)
        if self.original.name:
            node.name = self.names.fresh(f"{self.original.name}_{op.op.lower()}")
        self.nodes.append(node)
        self._done[op] = output


def _inherit(node: NodeProto, original: NodeProto) -> None:
    """Name and doc string; one that is absent stays absent."""
    node.ClearField("name")
    for field_name in ("name", "doc_string"):
        if original.HasField(field_name):
            setattr(node, field_name, getattr(original, field_name))


def remark(node: NodeProto, remarks: Iterable[tuple[str, str | None]]) -> None:
    """Metadata of a node changed: new values, or None for a key that goes."""
    for key, value in remarks:
        for index in reversed([i for i, entry in enumerate(node.metadata_props) if entry.key == key]):
            del node.metadata_props[index]
        if value is not None:
            node.metadata_props.add(key=key, value=value)


def inherit(node: NodeProto, original: NodeProto, names: Names) -> None:
    """Name, doc string and metadata of the original, for a node that writes what it wrote; a name after it for another."""
    first = original.output[0] in node.output
    node.name = original.name if first else original.name and names.fresh(f"{original.name}_{node.op_type.lower()}")
    node.doc_string = original.doc_string if first else ""
    del node.metadata_props[:]
    if set(original.output) & set(node.output):
        node.metadata_props.extend(original.metadata_props)


def constant_name(const: Const, output: str) -> str:
    """What a new constant would like to be called."""
    match const:
        case Stored():
            return const.name
        case Literal():
            return f"{output}_{const.dtype}" if const.dtype.kind == "float" else f"{output}_const"
        case Computed():
            base = constant_name(const.args[0], output)
            return f"{base}_{const.dtype}" if const.kernel in _RETYPED else f"{base}_{const.kernel}"
