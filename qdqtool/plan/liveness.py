"""Which nodes and constants nobody reads once a plan is carried out; only what the plan itself made dead counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qdqtool.expressions import Expr, Op, Runtime, Stored
from qdqtool.model import trained
from qdqtool.model.graph import MAIN, Key, Place, Use, View, domain
from qdqtool.opsets.folding import FOLDS
from qdqtool.plan.entries import Plan

FEEDERS = frozenset({"Constant", "Shape", "Size", *FOLDS})
"""Nodes that make constants and lengths out of others."""


class Readers:
    """How often a value is read: as in the model, until something is added or taken away."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._count: dict[Key, int] = {}

    def __getitem__(self, key: Key) -> int:
        count = self._count.get(key)
        if count is None:
            count = self._count[key] = len(self._view.uses.get(key, ())) + len(self._view.results.get(key, ()))
        return count

    def add(self, keys: Iterable[Key], times: int = 1) -> None:
        """Each is read that many times more."""
        count, uses, results = self._count, self._view.uses, self._view.results
        for key in keys:
            if key not in count:
                count[key] = len(uses.get(key, ())) + len(results.get(key, ()))
            count[key] += times


def readers(view: View, plan: Plan) -> Readers:
    """How often each value is read after the plan, by dead nodes too."""
    count = Readers(view)
    for place in plan.replaces:
        count.add(_operands(view, place), -1)
        count.add(set(_referenced(view, plan, place)))
    for place, entry in plan.adapts.items():
        count.add(_operands(view, place), -1)
        count.add(found.key for name in entry.reads if (found := view.find(view.scopes[place.scope], name)))
    for rewire in plan.rewires:
        scope = view.scopes[rewire.place.scope]
        found = view.find(scope, view.node(rewire.place).input[rewire.slot])
        count.add([found.key] if found is not None else [], -1)
        count.add([Key(rewire.const.scope, rewire.const.name)] if isinstance(rewire.const, Stored) else [])
    for place, settle in plan.settles.items():
        if isinstance(settle.by, Stored | Runtime) and (found := view.find(view.scopes[place.scope], settle.by.name)):
            count.add([found.key], len(remaining(view, plan, settle.key)))
    return count


def remaining(view: View, plan: Plan, key: Key) -> list[Use]:
    """Who still reads a value through the operand that it has now."""
    return [u for u in view.uses.get(key, ()) if u.place not in plan.dead and u.place not in plan.replaces]


def _operands(view: View, place: Place) -> list[Key]:
    return view.scopes[place.scope].reads[place.index]


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


def _lost(view: View, plan: Plan) -> tuple[Readers, set[Key]]:
    """How often values are read without the dead nodes, and which of them lose a reader."""
    count = readers(view, plan)
    unread = [key for place in plan.dead for key in _operands(view, place)]
    count.add(unread, -1)
    touched = set(unread)
    touched.update(*(_operands(view, place) for place in (*plan.replaces, *plan.adapts)))
    touched.update(*(_operands(view, rewire.place) for rewire in plan.rewires))
    return count, touched


def dead_nodes(view: View, plan: Plan) -> set[Place]:
    """Nodes that only made constants for rewritten steps, those dead already not among them."""
    count, touched = _lost(view, plan)
    dead: set[Place] = set()
    waiting = [key for key in touched if key.name in view.scopes[key.scope].producers and count[key] <= 0]
    while waiting:
        key = waiting.pop()
        made = view.scopes[key.scope].producers.get(key.name)
        if made is None:
            continue
        place = Place(key.scope, made[0])
        if place in dead or place in plan.dead or place in plan.replaces or place in plan.adapts:
            continue
        node = view.node(place)
        if node.op_type not in FEEDERS or domain(node.domain):
            continue
        dead.add(place)
        for below in _operands(view, place):
            count.add([below], -1)
            waiting += [below] if count[below] <= 0 else []
    return dead


def dead_initializers(view: View, plan: Plan) -> set[Key]:
    """Initializers that only rewritten or dead nodes read, save those that are outputs, overridable, annotated or
    in use for training."""
    count, touched = _lost(view, plan)
    trained_on = trained.updated(view.proto) | trained.read(view.proto)
    touched |= plan.unread
    named = annotated(view)
    kept = [k for k in touched if count[k] <= 0 and k not in named and not (k.scope == MAIN and k.name in trained_on)]
    return {k for k in kept if (found := view.find(view.scopes[k.scope], k.name)) and found.kind == "initializer"}


def annotated(view: View) -> set[Key]:
    """Values that the annotations of their own graph speak of."""
    named = set()
    for path, scope in view.scopes.items():
        for annotation in getattr(scope.body, "quantization_annotation", ()):
            names = (annotation.tensor_name, *(entry.value for entry in annotation.quant_parameter_tensor_names))
            named |= {Key(path, name) for name in names}
    return named
