"""What a step is for: a weight or an activation, and whether its result is a bias."""

from __future__ import annotations

from qdqtool.expressions import is_const
from qdqtool.model.graph import Key, Place, View, domain
from qdqtool.plan.constants import Constants
from qdqtool.plan.lift import Lifted
from qdqtool.targets.cautions import Role
from qdqtool.targets.demands import Part

LONGEST = 8
"""Operators between a weight and its step."""

BIASED = ("Conv", "ConvTranspose", "Gemm")
BIAS = 2
"""Where these have their bias."""
GATHERING = ("Gather",)
"""Operators that runtimes join with a step in front of them."""


def part(view: View, constants: Constants, lifted: Lifted) -> Part:
    """What a step is for."""
    weight = role(view, constants, lifted)
    readers = _readers(view, lifted)
    gathered = frozenset(op for op, slot in readers if op in GATHERING and slot == 0)
    return Part(weight, _bias(readers) if is_const(lifted.step.x) else "", gathered)


def role(view: View, constants: Constants, lifted: Lifted) -> Role:
    """A weight is what first operands lead back from to a constant."""
    if is_const(lifted.step.x):
        return "weight"
    at, slot = lifted.place, lifted.source.order[0]
    for _ in range(LONGEST):
        node, scope = view.node(at), view.scopes[at.scope]
        name = node.input[slot] if slot < len(node.input) else ""
        found = view.find(scope, name) if name else None
        if found is None or found.kind != "node":
            return "weight" if name and is_const(constants.expression(scope, name)) else "activation"
        at, slot = Place(found.key.scope, found.index), 0
    return "activation"


def _bias(readers: set[tuple[str, int]]) -> str:
    """The operator that alone reads the result, as its bias; empty for any other reader."""
    ops = {op for op, slot in readers if op in BIASED and slot == BIAS}
    return min(ops) if ops and len(readers) == len(ops) else ""


def _readers(view: View, lifted: Lifted) -> set[tuple[str, int]]:
    """Operators that read the result, and where; those of other domains with it."""
    uses = view.uses.get(Key(lifted.place.scope, view.node(lifted.place).output[0]), ())
    nodes = ((view.node(use.place), use.slot) for use in uses)
    return {(f"{domain(node.domain)} {node.op_type}".strip(), slot) for node, slot in nodes}
