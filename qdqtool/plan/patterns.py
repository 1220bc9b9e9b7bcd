"""Patterns of several nodes, raised on request: chains of arithmetic to steps, rows to blocks, codes to narrower types.

A pattern is read backwards from its last node as one expression, through nodes whose only reader is the pattern; the raisings say
what it means in fewer words. Longest first: later nodes are tried before earlier ones, and each node is claimed once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

from onnx import AttributeProto, GraphProto, NodeProto

from qdqtool.exactness import NO_BOUND, Exactness
from qdqtool.expressions import Attribute, Computed, Const, Expr, Literal, Op, Runtime, Step, Stored, is_const, walk
from qdqtool.model.graph import Key, Place, Scope, View, domain
from qdqtool.plan.choose import Choice
from qdqtool.plan.entries import Replace
from qdqtool.plan.types import Type
from qdqtool.raising import all_raisings
from qdqtool.raising.pieces import is_marker

if TYPE_CHECKING:
    from qdqtool.plan.build import Builder

INNER = ("Add", "Cast", "Clip", "Div", "Flatten", "Gather", "Mul", "Reshape", "Round", "Slice", "Squeeze", "Sub", "Transpose", "Unsqueeze")
"""Operators a pattern may hold besides quantize and dequantize."""

LAST = ("Cast", "Mul", "Reshape", "Slice", "Transpose")
DEEPEST = 16
_FEEDERS = ("Cast", "Identity")
_VALUES = (AttributeProto.INT, AttributeProto.INTS, AttributeProto.FLOAT, AttributeProto.FLOATS)


@dataclass(slots=True)
class Tree:
    """A pattern as an expression; `origins` tells which node gives each operator or step in it, and what its value is called."""

    expr: Expr
    origins: dict[Expr, tuple[Place, Runtime]] = field(default_factory=dict)


def raise_all(builder: Builder) -> None:
    """Plan every pattern that the target can say natively in one step; the steps that were part of it are lifted no more."""
    reader = _Reader(builder)
    for place, scope, node in reversed(list(builder.view.places())):
        if place in reader.claimed or not (place in builder.lifted or (node.op_type in LAST and not domain(node.domain))):
            continue
        tree = reader.tree(scope, place)
        found = None if tree is None else _raise(builder, tree, place, node.output[0])
        if found is not None:
            reader.claimed |= {place, *found.claimed}
            builder.plan.replaces[place] = found
            builder.plan.dead |= set(found.claimed)
    for place in reader.claimed:
        builder.lifted.pop(place, None)


class _Reader:
    """Reads patterns; what one has claimed is no part of another."""

    def __init__(self, builder: Builder) -> None:
        self._builder, self._view = builder, builder.view
        self.claimed: set[Place] = set()
        self._annotated = set(_annotated(builder.view))

    def tree(self, scope: Scope, place: Place) -> Tree | None:
        """The pattern that ends at a node; None when the node is none that a pattern may hold."""
        tree = Tree(Runtime("", None, None))
        expr = self._node(scope, place, tree, DEEPEST)
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
        return replace(lifted.step, x=x) if x.dtype is lifted.step.x.dtype else lifted.step

    def _operator(self, scope: Scope, node: NodeProto, known: Type, tree: Tree, depth: int) -> Expr | None:
        attributes = _attributes(node)
        if node.op_type not in INNER or domain(node.domain) or known.dtype is None or attributes is None:
            return None
        inputs = tuple(self._operand(scope, name, tree, depth) if name else None for name in node.input)
        return Op(node.op_type, inputs, attributes, known.dtype, known.shape)

    def _operand(self, scope: Scope, name: str, tree: Tree, depth: int) -> Expr:
        """What a pattern reads: a constant, a value of its own, or one of the model's."""
        leaf = self._builder.constants.expression(scope, name)
        found = self._view.find(scope, name)
        if is_const(leaf) or depth == 0 or found is None or found.kind != "node" or found.key.scope != scope.path:
            return leaf
        place = Place(scope.path, found.index)
        if place in self.claimed or not self._only_here(found.key):
            return leaf
        return self._node(scope, place, tree, depth - 1) or leaf

    def _only_here(self, key: Key) -> bool:
        return len(self._view.uses.get(key, ())) == 1 and not self._view.results.get(key) and key.name not in self._annotated


def _annotated(view: View) -> Iterator[str]:
    for scope in view.scopes.values():
        if isinstance(scope.body, GraphProto):
            yield from (a.tensor_name for a in scope.body.quantization_annotation)


def _attributes(node: NodeProto) -> tuple[tuple[str, Attribute], ...] | None:
    if any(a.ref_attr_name or a.type not in _VALUES for a in node.attribute):
        return None
    return tuple(sorted((a.name, _attribute(a)) for a in node.attribute))


def _attribute(a: AttributeProto) -> Attribute:
    if a.type == AttributeProto.INT:
        return int(a.i)
    if a.type == AttributeProto.FLOAT:
        return float(a.f)
    return tuple(a.ints) if a.type == AttributeProto.INTS else tuple(a.floats)


class _Search:
    """All ways to say the expressions of one pattern; the context that raisings see."""

    def __init__(self, builder: Builder, tree: Tree) -> None:
        self._builder, self._tree = builder, tree
        self._ways: dict[Expr, dict[Expr, Exactness]] = {}

    def fact(self, question: str, const: Const, *params: Any) -> Any:
        return self._builder.facts.ask(question, const, *params)

    def original(self, expr: Expr) -> bool:
        return expr in self._tree.origins

    def free(self, const: Const) -> bool:
        """No result and nothing but dequantize steps and casts reads the tensors it is made of."""
        return all(self._free(e) for e in walk(const) if isinstance(e, Stored))

    def _free(self, const: Stored) -> bool:
        key = Key(const.scope, const.name)
        uses = self._builder.view.uses.get(key, ())
        return not self._builder.view.results.get(key) and all(
            (u.place in self._builder.lifted and u.slot == 0) or self._builder.view.node(u.place).op_type in _FEEDERS for u in uses
        )

    def ways(self, expr: Expr) -> dict[Expr, Exactness]:
        """Expressions of the same meaning, `expr` among them, with how close they are."""
        if expr not in self._ways:
            self._ways[expr] = {expr: Exactness.BIT_EQUAL}
            self._ways[expr] = dict(self._closed(expr))
        return self._ways[expr]

    def _closed(self, expr: Expr) -> Iterator[tuple[Expr, Exactness]]:
        found: dict[Expr, Exactness] = {}
        waiting = list(self._rebuilt(expr))
        while waiting:
            form, exactness = waiting.pop(0)
            if found.get(form, Exactness.APPROXIMATE) <= exactness:
                continue
            found[form] = exactness
            for raising in all_raisings():
                for said in raising.raised(form, self):
                    waiting += [(way, max(exactness, said.exactness, more)) for way, more in self.ways(said.expr).items()]
        yield from found.items()

    def _rebuilt(self, expr: Expr) -> Iterator[tuple[Expr, Exactness]]:
        """The expression around every way to say its operands."""
        if isinstance(expr, Step):
            yield from ((replace(expr, x=x), exactness) for x, exactness in self.ways(expr.x).items())
        elif isinstance(expr, Op):
            yield from self._operands(expr, 0, Exactness.BIT_EQUAL)
        else:
            yield expr, Exactness.BIT_EQUAL

    def _operands(self, op: Op, slot: int, exactness: Exactness) -> Iterator[tuple[Expr, Exactness]]:
        if slot == min(len(op.inputs), 2):
            yield op, exactness
            return
        part = op.inputs[slot]
        for way, more in self.ways(part).items() if part is not None else [(None, exactness)]:
            inputs = (*op.inputs[:slot], way, *op.inputs[slot + 1 :])
            yield from self._operands(replace(op, inputs=inputs), slot + 1, max(exactness, more))


def _raise(builder: Builder, tree: Tree, place: Place, output: str) -> Replace | None:
    """The native way that takes the place of most nodes, then the one with the smallest constants."""
    chooser = builder.chooser(place.scope)
    found: list[tuple[tuple[int, ...], Replace]] = []
    for way, exactness in _Search(builder, tree).ways(tree.expr).items():
        if way == tree.expr or not isinstance(way, Step) or any(isinstance(e, Step) and is_marker(e.scale) for e in walk(way)):
            continue
        kept: set[Place] = set()
        step = _with_kept(way, tree, kept)
        choice = chooser.choose(step) if isinstance(step, Step) else None
        if isinstance(choice, Choice) and not choice.names and isinstance(step, Step):
            claimed = {p for p, _ in tree.origins.values()} - _below(tree, kept) - {place}
            entry = Replace(place, ((output, choice.expr),), str(step.meaning), ("simplify",), exactness, NO_BOUND, step)
            entry = replace(entry, claimed=tuple(sorted(claimed, key=lambda p: p.index)), before=tree.expr)
            found.append(((exactness, -len(claimed), *_size(choice.expr)), entry))
    return min(found, key=lambda f: f[0], default=(None, None))[1]


def _with_kept(expr: Expr, tree: Tree, kept: set[Place]) -> Expr:
    """The expression with everything that stands in the model unchanged read from there."""
    if expr in tree.origins:
        place, value = tree.origins[expr]
        kept.add(place)
        return value
    if isinstance(expr, Step):
        return replace(expr, x=_with_kept(expr.x, tree, kept))
    if isinstance(expr, Op):
        return replace(expr, inputs=tuple(None if i is None else _with_kept(i, tree, kept) for i in expr.inputs))
    return expr


def _below(tree: Tree, kept: set[Place]) -> set[Place]:
    """The kept nodes and those of the pattern that they read."""
    found: set[Place] = set()
    for expr, (place, _) in tree.origins.items():
        if place in kept:
            found |= {tree.origins[e][0] for e in walk(expr) if e in tree.origins}
    return found


def _size(expr: Expr) -> tuple[int, int]:
    """Bytes of constants, and nodes."""
    operators = {e for e in walk(expr) if isinstance(e, Op)}
    consts = {c for e in operators for c in e.inputs if isinstance(c, Stored | Literal | Computed)}
    return sum(c.dtype.nbytes(prod(c.shape)) for c in consts), len(operators)
