"""Which nodes and constants nobody reads once a plan is carried out; only what the plan itself made dead counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from qdqtool.expressions import Expr, Op, Runtime, Stored
from qdqtool.model import trained
from qdqtool.model.graph import MAIN, Key, Place, View, domain
from qdqtool.opsets.folding import FOLDS
from qdqtool.plan.entries import Plan

FEEDERS = frozenset({"Constant", "Shape", "Size", *FOLDS})
"""Nodes that make constants and lengths out of others."""


def readers(view: View, plan: Plan) -> Counter[Key]:
    """How often each value is read after the plan."""
    count = Counter({key: len(uses) for key, uses in view.uses.items()})
    for key, paths in view.results.items():
        count[key] += len(paths)
    for place in plan.replaces:
        count.subtract(_operands(view, place))
        count.update(set(_referenced(view, plan, place)))
    for place, entry in plan.adapts.items():
        count.subtract(_operands(view, place))
        count.update(found.key for name in entry.reads if (found := view.find(view.scopes[place.scope], name)))
    for rewire in plan.rewires:
        scope = view.scopes[rewire.place.scope]
        found = view.find(scope, view.node(rewire.place).input[rewire.slot])
        if found is not None:
            count[found.key] -= 1
        if isinstance(rewire.const, Stored):
            count[Key(rewire.const.scope, rewire.const.name)] += 1
    return count


def _operands(view: View, place: Place) -> Iterator[Key]:
    scope = view.scopes[place.scope]
    for name in view.node(place).input:
        found = view.find(scope, name) if name else None
        if found is not None:
            yield found.key


def _referenced(view: View, plan: Plan, place: Place) -> Iterator[Key]:
    """Values of the model that the new nodes read; sources of computed constants are not among them."""
    scope = view.scopes[place.scope]
    for _, expr in plan.replaces[place].outputs:
        for part in _leaves(expr):
            if isinstance(part, Stored):
                yield Key(part.scope, part.name)
            elif isinstance(part, Runtime) and (found := view.find(scope, part.name)):
                yield found.key


def _leaves(expr: Expr | None) -> Iterator[Expr]:
    if isinstance(expr, Op):
        for part in expr.inputs:
            yield from _leaves(part)
    elif expr is not None:
        yield expr


def dead_nodes(view: View, plan: Plan) -> set[Place]:
    """Nodes that only made constants for rewritten steps, those dead already not among them."""
    count = readers(view, plan)
    touched = {key for place in (*plan.replaces, *plan.adapts) for key in _operands(view, place)}
    touched |= {key for rewire in plan.rewires for key in _operands(view, rewire.place)}
    for key in (k for place in plan.dead for k in _operands(view, place)):
        count[key] -= 1
        touched.add(key)
    dead: set[Place] = set()
    waiting = [key for key in touched if count[key] <= 0]
    while waiting:
        key = waiting.pop()
        index = view.scopes[key.scope].producers.get(key.name, (-1, 0))[0]
        place = Place(key.scope, index)
        if index < 0 or place in dead or place in plan.dead or place in plan.replaces or place in plan.adapts:
            continue
        node = view.node(place)
        if node.op_type not in FEEDERS or domain(node.domain):
            continue
        dead.add(place)
        for below in _operands(view, place):
            count[below] -= 1
            waiting += [below] if count[below] <= 0 else []
    return dead


def dead_initializers(view: View, plan: Plan) -> set[Key]:
    """Initializers that only rewritten or dead nodes read, save those that are outputs, overridable, annotated or
    in use for training."""
    count = readers(view, plan)
    touched = {key for place in (*plan.replaces, *plan.adapts) for key in _operands(view, place)}
    touched |= {key for rewire in plan.rewires for key in _operands(view, rewire.place)}
    for place in plan.dead:
        for key in _operands(view, place):
            count[key] -= 1
            touched.add(key)
    trained_on = trained.updated(view.proto) | trained.read(view.proto)
    return {k for k in touched if count[k] <= 0 and _removable(view, k) and not (k.scope == MAIN and k.name in trained_on)}


def _removable(view: View, key: Key) -> bool:
    scope = view.scopes[key.scope]
    found = view.find(scope, key.name)
    if found is None or found.kind != "initializer":
        return False
    annotations = getattr(scope.body, "quantization_annotation", ())
    named = {entry.value for a in annotations for entry in a.quant_parameter_tensor_names} | {a.tensor_name for a in annotations}
    return key.name not in named
