"""Reading a model once, producers first: which nodes make constants, and what these are.

A constant may be computed from others through quantize and dequantize steps, movers and arithmetic; nothing is read from disk for it but
axes, shapes and indices.
"""

from __future__ import annotations

from collections.abc import Hashable

from onnx import NodeProto

from qdqtool.capabilities import operators
from qdqtool.expressions import Const, Step, is_const
from qdqtool.model.graph import Key, Place, Scope, domain
from qdqtool.passes import arithmetic, movements, movers
from qdqtool.passes.given import Given, Made
from qdqtool.passes.likeness import same_parameters
from qdqtool.passes.moved_steps import moved
from qdqtool.passes.results import Sound, result, undisputed
from qdqtool.plan.lift import lift_one
from qdqtool.plan.types import resolved
from qdqtool.quantization import Meaning

DEEPEST = 48
"""Most nodes that are computed as one constant."""

LONGEST = 512
"""Most operations in its expression, which spells out a value as often as it is used."""


def read(given: Given) -> Given:
    """Fill in the steps and the constants that the nodes of a model make."""
    reader = _Reader(given)
    steps, view = operators(), given.view
    for place in given.places:
        scope = view.scopes[place.scope]
        node = scope.nodes[place.index]
        op, home = node.op_type, domain(node.domain)
        if (home, op) in steps:
            reader.step(place, scope, node)
        elif not home and op in _OPERATORS and len(node.output) == 1 and node.input:
            _OPERATORS[op](reader, place, scope, node)
    return given


class _Reader:
    def __init__(self, given: Given) -> None:
        self._given = given
        self._targets = {path: given.target(Place(path, 0)) for path in given.view.scopes}
        self._seen: dict[Hashable, tuple[Meaning, bool]] = {}
        self._sound: Sound = {}

    def step(self, place: Place, scope: Scope, node: NodeProto) -> None:
        given, types, root = self._given, self._given.types, scope.root().path
        if (root in types.conflicts or root in types.uncalled) and any(a.ref_attr_name for a in node.attribute):
            return
        whole = resolved(node, types.bindings[root]) if root in types.bindings else node
        lifted = lift_one(place, scope, whole, types, given.constants, self._targets[root], self._seen)
        if lifted is None:
            return
        given.lifted[place] = lifted
        const = result(lifted, self._sound)
        if const is not None and undisputed(given.facts, const, lifted.step.meaning):
            self._learn(place, scope, node, const, lifted.step if lifted.step.meaning.kind == "dequantize" else None)
        else:
            types.learn(Key(place.scope, node.output[0]), lifted.step.dtype, lifted.step.shape)

    def copy(self, place: Place, scope: Scope, node: NodeProto) -> None:
        """Identity or Cast."""
        const = self._given.constants.expression(scope, node.output[0])
        if is_const(const):
            below = self._given.made.get(self._given.producer(scope, node.input[0]) or place)
            self._learn(place, scope, node, const, below.step if below and node.op_type == "Identity" else None)

    def arithmetic(self, place: Place, scope: Scope, node: NodeProto) -> None:
        operands = self._operands(scope, node)
        const = None if operands is None else arithmetic.computed(node, [c for c in operands if c is not None], self._given.integers)
        if const is not None:
            self._learn(place, scope, node, const, None)

    def mover(self, place: Place, scope: Scope, node: NodeProto) -> None:
        operands = self._operands(scope, node)
        movement = None if operands is None else movers.movement(node, operands, self._given.integers)
        if operands is not None and movement is not None:
            data = [c for c in (operands if node.op_type == "Concat" else operands[:1]) if c is not None]
            step = self._moved(scope, node, movement, len(data))
            self._learn(place, scope, node, movements.carried(movement, data), step)

    def _operands(self, scope: Scope, node: NodeProto) -> list[Const | None] | None:
        """Constants, None for operands that are left out; None when one is no constant."""
        found: list[Const | None] = []
        for name in node.input:
            expr = self._given.constants.expression(scope, name) if name else None
            if name and not is_const(expr):
                return None
            found.append(expr if is_const(expr) else None)
        return found

    def _moved(self, scope: Scope, node: NodeProto, movement: movements.Movement, count: int) -> Step | None:
        """The step whose result a mover gives, when all that it moves are results of steps."""
        made = self._given.made
        producers = [self._given.producer(scope, name) for name in node.input[:count]]
        steps = [made[p].step for p in producers if p is not None and p in made]
        found = [s for s in steps if s is not None]
        return moved(movement, found, lambda a, b: same_parameters(self._given.facts, a, b)) if len(found) == count else None

    def _learn(self, place: Place, scope: Scope, node: NodeProto, const: Const, step: Step | None) -> None:
        made, producer = self._given.made, self._given.producer
        nodes, weight = dict[Place, None](), 1
        for name in node.input[:]:
            at = producer(scope, name) if name else None
            below = None if at is None else made.get(at)
            if below is not None:
                nodes |= dict.fromkeys(below.nodes)
                weight += below.weight
        if len(nodes) < DEEPEST and weight <= LONGEST:
            made[place] = Made(const, step, (*nodes, place), weight)
            key = Key(place.scope, node.output[0])
            self._given.constants.learn(key, const)
            self._given.types.learn(key, const.dtype, const.shape)


_OPERATORS = {
    **dict.fromkeys(movers.OPERATORS, _Reader.mover),
    **dict.fromkeys(arithmetic.OPERATORS, _Reader.arithmetic),
    "Identity": _Reader.copy,
    "Cast": _Reader.copy,
}
