"""Patterns of several nodes, raised on request: chains of arithmetic to steps, rows to blocks, codes to narrower types.

A pattern is read backwards from its last node as one expression, through nodes whose only reader is the pattern; the raisings say
what it means in fewer words. Longest first: later nodes are tried before earlier ones, and each node is claimed once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from onnx import AttributeProto, GraphProto, NodeProto

from qdqtool.expressions import Attribute, Expr, Op, Runtime, Step, is_const
from qdqtool.model.graph import Key, Place, Scope, View, domain
from qdqtool.plan.search import Tree, best
from qdqtool.plan.types import Type

if TYPE_CHECKING:
    from qdqtool.plan.build import Builder

INNER = ("Add", "Cast", "Clip", "Div", "Flatten", "Gather", "Mul", "Reshape", "Round", "Slice", "Squeeze", "Sub", "Transpose", "Unsqueeze")
"""Operators a pattern may hold besides quantize and dequantize."""

LAST = ("Cast", "Mul", "Reshape", "Slice", "Transpose")
DEEPEST = 48

SHARED = ("Transpose",)

_VALUES = (AttributeProto.INT, AttributeProto.INTS, AttributeProto.FLOAT, AttributeProto.FLOATS)


def raise_all(builder: Builder) -> None:
    """Plan every pattern that the target can say natively in one step; the steps that were part of it are lifted no more."""
    reader = Reader(builder)
    for place, scope, node in reversed(list(builder.view.places())):
        if place in reader.claimed or not (place in builder.lifted or (node.op_type in LAST and not domain(node.domain))):
            continue
        tree = reader.tree(scope, place)
        found = None if tree is None else best(builder, tree, place, node.output[0])
        if found is not None:
            reader.claimed |= {place, *found.claimed}
            builder.plan.replaces[place] = found
            builder.plan.dead |= set(found.claimed)
    for place in reader.claimed:
        builder.lifted.pop(place, None)


class Reader:
    """Reads patterns; what one has claimed is no part of another.

    When `sharing`, what is cheap to say twice may have readers outside the pattern, and scales and zero points are read too.
    """

    def __init__(self, builder: Builder, inner: Collection[str] = INNER, *, sharing: bool = False) -> None:
        self._builder, self._view, self._inner, self._sharing = builder, builder.view, inner, sharing
        self.claimed: set[Place] = set()
        self._annotated = set(_annotated(builder.view))

    def tree(self, scope: Scope, place: Place, depth: int = DEEPEST) -> Tree | None:
        """The pattern that ends at a node; None when the node is none that a pattern may hold."""
        tree = Tree(Runtime("", None, None))
        expr = self._node(scope, place, tree, depth)
        return None if expr is None else replace(tree, expr=expr)

    def _node(self, scope: Scope, place: Place, tree: Tree, depth: int) -> Expr | None:
        node = self._builder.judge.node(place)
        if sum(bool(o) for o in node.output) != 1:
            return None
        known = self._builder.types.at(scope, node.output[0])
        expr = self._step(scope, place, tree, depth) or self._operator(scope, node, known, tree, depth)
        if expr is not None:
            tree.origins[expr] = (place, Runtime(node.output[0], known.dtype or expr.dtype, known.shape))
        return expr

    def _step(self, scope: Scope, place: Place, tree: Tree, depth: int) -> Expr | None:
        lifted = self._builder.lifted.get(place)
        if lifted is None:
            return None
        x = self._operand(scope, self._view.node(place).input[0], tree, depth)
        step = replace(lifted.step, x=x) if x.dtype is lifted.step.x.dtype else lifted.step
        return self._with_parameters(step, scope, place, tree, depth) if self._sharing else step

    def _with_parameters(self, step: Step, scope: Scope, place: Place, tree: Tree, depth: int) -> Step:
        inputs, (_, *slots) = self._view.node(place).input, self._builder.lifted[place].source.order
        scale, *zero = (self._operand(scope, inputs[slot], tree, depth) for slot in slots if slot < len(inputs) and inputs[slot])
        return replace(step, scale=scale, zero_point=zero[0] if zero else None)

    def _operator(self, scope: Scope, node: NodeProto, known: Type, tree: Tree, depth: int) -> Expr | None:
        attributes = attributes_of(node, strings=self._sharing)
        if node.op_type not in self._inner or domain(node.domain) or attributes is None or (known.dtype is None and not self._sharing):
            return None
        inputs = tuple(self._operand(scope, name, tree, depth) if name else None for name in node.input)
        # Behind an operator of another domain inference tells nothing, but weights have a type.
        dtype = known.dtype or next((i.dtype for i in inputs if i is not None and i.dtype is not None), None)
        return None if dtype is None else Op(node.op_type, inputs, attributes, dtype, known.shape)

    def _operand(self, scope: Scope, name: str, tree: Tree, depth: int) -> Expr:
        """What a pattern reads: a constant, a value of its own, or one of the model's."""
        leaf = self._builder.constants.expression(scope, name)
        found = self._view.find(scope, name)
        if is_const(leaf) or depth == 0 or found is None or found.kind != "node" or found.key.scope != scope.path:
            return leaf
        place = Place(scope.path, found.index)
        if place in self.claimed or not (self._only_here(found.key) or (self._sharing and self.cheap(place))):
            return leaf
        return self._node(scope, place, tree, depth - 1) or leaf

    def cheap(self, place: Place) -> bool:
        """A dequantize, or what only moves elements."""
        lifted = self._builder.lifted.get(place)
        return lifted.step.meaning.kind == "dequantize" if lifted is not None else self._view.node(place).op_type in SHARED

    def _only_here(self, key: Key) -> bool:
        return len(self._view.uses.get(key, ())) == 1 and not self._view.results.get(key) and key.name not in self._annotated


def _annotated(view: View) -> Iterator[str]:
    for scope in view.scopes.values():
        if isinstance(scope.body, GraphProto):
            yield from (a.tensor_name for a in scope.body.quantization_annotation)


def attributes_of(node: NodeProto, *, strings: bool = False) -> tuple[tuple[str, Attribute], ...] | None:
    """Attributes by name; None when one is a function's argument, or neither number nor numbers (nor, with `strings`, a string)."""
    kinds = (*_VALUES, AttributeProto.STRING) if strings else _VALUES
    if any(a.ref_attr_name or a.type not in kinds for a in node.attribute):
        return None
    return tuple(sorted((a.name, _attribute(a)) for a in node.attribute))


def _attribute(a: AttributeProto) -> Attribute:
    if a.type == AttributeProto.INT:
        return int(a.i)
    if a.type == AttributeProto.FLOAT:
        return float(a.f)
    if a.type == AttributeProto.STRING:
        return a.s.decode()
    return tuple(a.ints) if a.type == AttributeProto.INTS else tuple(a.floats)
