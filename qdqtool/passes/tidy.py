"""What nobody reads: nodes whose results go nowhere, initializers, functions that nobody calls, imports that nothing uses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from onnx import ModelProto

from qdqtool.model import unused_imports
from qdqtool.model.graph import Key, Place, View
from qdqtool.passes.given import Given
from qdqtool.plan.entries import Plan


def plan_tidy(given: Given, plan: Plan, read: set[Key]) -> list[str]:
    """Enter into a plan what nobody reads, beside what the plan itself makes so; says what.

    `read` are values that the plan makes somebody read.
    """
    view, unread = given.view, _Unread(given, plan, read)
    dead = unread.nodes()
    functions = _uncalled(view, plan)
    plan.drops |= {("function", *name) for name in functions}
    plan.unread = set(unread.initializers(set(dead)))
    plan.dead |= set(dead)
    return [
        *(f"node {view.title(place)}" for place in dead),
        *(f"function {name}" for _, name, _ in functions),
        *(f"constant {key.name}" for key in sorted(plan.unread)),
    ]


def imports(proto: ModelProto) -> list[str]:
    """Take out imports of domains that no node uses, and say so."""
    domains = {o.domain for holder in (proto, *proto.functions) for o in holder.opset_import} - {"", "ai.onnx"}
    return unused_imports.drop(proto, dict.fromkeys(domains, 0))


class _Unread:
    def __init__(self, given: Given, plan: Plan, read: set[Key]) -> None:
        self._given, self._view, self._dead, self._needed = given, given.view, set(plan.dead), read | given.kept_names
        self._replaced = plan.replaces.keys()

    def nodes(self) -> list[Place]:
        """Nodes that go, in the order of the model; readers are asked before what they read."""
        found = []
        for place in reversed(self._given.places):
            keys = [Key(place.scope, name) for name in self._view.node(place).output if name]
            if place not in self._dead and place not in self._replaced and not any(map(self._read, keys)):
                self._dead.add(place)
                found.append(place)
        return sorted(found, key=lambda p: (p.scope, p.index))

    def initializers(self, tidied: set[Place]) -> Iterator[Key]:
        """Initializers that no node reads but those, and no graph gives."""
        for path, scope in self._view.scopes.items():
            for name in scope.initializers:
                key = Key(path, name)
                uses = self._view.uses.get(key, ())
                if all(use.place in tidied for use in uses) and not self._view.results.get(key) and key not in self._needed:
                    yield key

    def _read(self, key: Key) -> bool:
        bodies = self._view.results.get(key, ())
        if key in self._needed or any(not self._inside(path) for path in bodies):
            return True
        uses = self._view.uses.get(key, ())
        return any(use.place not in self._dead and not self._inside(use.place.scope) for use in uses)

    def _inside(self, path: tuple[str, ...]) -> bool:
        """The scope lies in a node that goes."""
        scope = self._view.scopes[path]
        while scope.parent is not None:
            if Place(scope.parent.path, int(scope.path[-2])) in self._dead:
                return True
            scope = scope.parent
        return False


def _uncalled(view: View, plan: Plan) -> list[tuple[str, str, str]]:
    """Functions that the main graph does not call, nor any that it calls."""
    names = {id(function): name for name, function in view.functions.items()}
    calls: dict[tuple[str, ...], set[tuple[str, str, str]]] = {}
    for place, scope, node in view.places():
        function = view.function_of(node)
        if function is not None and place not in plan.dead:
            calls.setdefault(scope.root().path, set()).add(names[id(function)])
    reached: set[tuple[str, str, str]] = set()
    waiting = set(calls.get((), ()))
    while waiting:
        reached |= waiting
        waiting = set(chain.from_iterable(calls.get(("function", *name), ()) for name in waiting)) - reached
    return [name for name in view.functions if name not in reached]
