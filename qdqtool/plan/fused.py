"""Fused operators as they stand in a model: which nodes they are, their types, constants and remarks, and what a dialect asks of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from onnx import NodeProto

from qdqtool.dialects import Fused, Impossible, fused_operators
from qdqtool.expressions import Const, Expr, Op, Runtime, Stored, known, reshape, walk
from qdqtool.model.graph import Key, Place, Scope, View, domain
from qdqtool.plan.constants import Constants
from qdqtool.plan.patterns import attributes_of
from qdqtool.plan.types import Types

if TYPE_CHECKING:
    from qdqtool.dialects import Layout, Sign
    from qdqtool.plan.build import Builder

_MOVES = ("Identity", "Reshape")
"""What a fused operator may read its constants through."""


class Asked:
    """What a dialect asks about one node and its model."""

    def __init__(self, builder: Builder, place: Place) -> None:
        self._builder, self._place = builder, place
        self._node = builder.view.node(place)
        self._remarks = {entry.key: entry.value for entry in self._node.metadata_props}

    @property
    def layout(self) -> Layout | None:
        return self._builder.target.layout

    @property
    def sign(self) -> Sign | None:
        return self._builder.target.sign

    @property
    def exact(self) -> bool:
        return self._builder.target.exact

    @property
    def opset(self) -> int:
        return self._builder.view.scopes[self._place.scope].imports.get("", 1)

    @property
    def goal(self) -> int:
        return self._builder.target.opset

    def remark(self, key: str) -> str | None:
        return self._remarks.get(key)

    def fact(self, question: str, const: Const, *params: Any) -> Any:
        return self._builder.facts.ask(question, const, *params)

    def tied(self, const: Const) -> bool:
        stored = (Key(e.scope, e.name) for e in walk(const) if isinstance(e, Stored))
        readers = {(domain(node.domain), node.op_type) for key in stored for node in _readers(self._builder.view, key)}
        return any(reader in fused_operators() for reader in readers - {(domain(self._node.domain), self._node.op_type)})


def _readers(view: View, key: Key) -> Iterator[NodeProto]:
    """Nodes that read a value, as it is or in another shape."""
    for use in view.uses.get(key, ()):
        node = view.node(use.place)
        yield node
        if node.op_type in _MOVES and not domain(node.domain):
            yield from _readers(view, Key(use.place.scope, node.output[0]))


def fused_nodes(view: View) -> Iterator[tuple[Place, Scope, Fused]]:
    """Every node of a dialect of fused operators that calls no function of the model."""
    for place, scope, node in view.places():
        dialect = fused_operators().get((domain(node.domain), node.op_type))
        if dialect is not None and view.function_of(node) is None:
            yield place, scope, dialect


def learn(view: View, types: Types, constants: Constants) -> None:
    """Tell the types of what fused operators give, which inference does not know."""
    for place, scope, dialect in fused_nodes(view):
        node = view.node(place)
        inputs = [constants.expression(scope, name) if name else None for name in node.input]
        attributes = attributes_of(node, strings=True)
        if attributes is not None and node.output:
            types.learn(Key(place.scope, node.output[0]), *dialect.result(node.op_type, dict(attributes), inputs))


def operator(builder: Builder, place: Place, dialect: Fused) -> Op | Impossible:
    """A node as an operator, its constants followed through changes of shape."""
    node, scope = builder.judge.node(place), builder.view.scopes[place.scope]
    attributes = attributes_of(node, strings=True)
    if attributes is None:
        return Impossible(("its attributes are arguments of a function, or of an unknown kind",))
    inputs = tuple(_operand(builder, scope, name) if name else None for name in node.input)
    dtype, shape = dialect.result(node.op_type, dict(attributes), inputs)
    if dtype is None:
        return Impossible(("the type of its result is not known here",))
    return Op(node.op_type, inputs, attributes, dtype, builder.types.at(scope, node.output[0]).shape or shape, domain(node.domain))


def _operand(builder: Builder, scope: Scope, name: str) -> Expr:
    leaf, found = builder.constants.expression(scope, name), builder.view.find(scope, name)
    if not isinstance(leaf, Runtime) or found is None or found.kind != "node":
        return leaf
    owner = builder.view.scopes[found.key.scope]
    node, shape = owner.nodes[found.index], known(leaf.shape)
    if node.op_type != "Reshape" or domain(node.domain) or shape is None:
        return leaf
    below = _operand(builder, owner, node.input[0])
    return leaf if isinstance(below, Runtime) else reshape(below, shape)
