"""Carrying a plan out on the protobuf: every changed node list is rebuilt once, innermost scopes first.

Constants that need computing get a header without data; ``Applied.pending`` tells by name what fills them when the model is saved.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, MutableSequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from onnx import AttributeProto, FunctionProto, ModelProto, NodeProto, helper

from qdqtool.expressions import Computed, Const, Expr, Literal, Runtime, Stored, walk
from qdqtool.kernels.sources import Source, materialize, size
from qdqtool.model import tensors
from qdqtool.model.graph import Key, Place, ScopePath, View, domain
from qdqtool.model.names import Names
from qdqtool.opsets.bodies import renamed
from qdqtool.opsets.edits import AttributeEdit, carry_out
from qdqtool.plan import imports, liveness
from qdqtool.plan.emit import Emitter, constant_name, inherit, remark
from qdqtool.plan.entries import Plan, Settle
from qdqtool.plan.facts import Facts
from qdqtool.plan.forms import fill

IMMEDIATE = 1 << 14
"""Elements up to which a computed constant is put into the model at once."""


@dataclass(slots=True)
class Applied:
    """The changed model, what is still to be computed by name, the new nodes, and the names of new constants."""

    proto: ModelProto
    pending: dict[str, Source] = field(default_factory=dict)
    written: dict[Place, tuple[NodeProto, ...]] = field(default_factory=dict)
    constants: dict[Const, str] = field(default_factory=dict)


def apply_plan(view: View, plan: Plan, facts: Facts, base_dir: Path | None) -> Applied:
    """Change the model of `view` as planned, in place; `view` is stale afterwards."""
    return _Application(view, plan, facts, base_dir).run()


class _Application:
    def __init__(self, view: View, plan: Plan, facts: Facts, base_dir: Path | None) -> None:
        self.view, self.plan, self.facts, self.base_dir = view, plan, facts, base_dir
        self._names: Names | None = None
        self.applied = Applied(view.proto)
        self._constants: dict[tuple[ScopePath, Const], str] = {}
        self._renamed: dict[Key, str] = {}
        self._constant_nodes: dict[Place, list[NodeProto]] = defaultdict(list)
        self._domains: dict[ScopePath, set[str]] = defaultdict(set)

    @property
    def names(self) -> Names:
        """Those that are free, looked for only when a name is needed."""
        if self._names is None:
            self._names = Names.of_view(self.view)
        return self._names

    def run(self) -> Applied:
        dead = liveness.dead_initializers(self.view, self.plan)
        self._settle()
        for place in sorted(self.plan.replaces, key=lambda p: (p.scope, p.index)):
            self.applied.written[place] = tuple(self._written(place))
        for place in sorted(self.plan.adapts, key=lambda p: (p.scope, p.index)):
            self.applied.written[place] = self._adapted(place)
        self._rewire()
        for respell in self.plan.respells.values():
            edits = (AttributeEdit(name, value) for name, value in respell.attributes)
            carry_out(self.view.node(respell.place), edits)
        for edit in self.plan.edits:
            carry_out(self.view.node(edit.place), edit.edits)
        self._retype()
        self._hoist()
        self._drop_initializers(dead)
        self._drop_value_infos()
        for path in sorted(self.view.scopes, key=len, reverse=True):
            self._rebuild(path)
        self._drop_functions()
        if not self.plan.keeps_imports:
            self._stamp()
        return self.applied

    def _written(self, place: Place) -> list[NodeProto]:
        entry = self.plan.replaces[place]
        emitter = Emitter(self.names, lambda const, output: self._constant(const, output, place), self.view.node(place))
        for output, expr in entry.outputs:
            emitter.write(self._named(expr, place), output)
        remark(emitter.nodes[-1], entry.remarks)
        self._domains[self.view.scopes[place.scope].root().path] |= {n.domain for n in emitter.nodes if n.domain}
        return emitter.nodes

    def _named(self, expr: Expr, place: Place) -> Expr:
        """The expression with values that go under another name now called so."""
        if not self._renamed:
            return expr
        scope = self.view.scopes[place.scope]
        found = ((leaf, self.view.find(scope, leaf.name)) for leaf in walk(expr) if isinstance(leaf, Runtime))
        names = {leaf: self._renamed[at.key] for leaf, at in found if at is not None and at.key in self._renamed}
        return fill(expr, {leaf: replace(leaf, name=name) for leaf, name in names.items()}) if names else expr

    def _adapted(self, place: Place) -> tuple[NodeProto, ...]:
        entry, original = self.plan.adapts[place], self.view.node(place)
        kept = {*original.output, *entry.reads}
        names = {name: self._constant(const, original.output[0], place) for name, const in entry.constants.items()}
        made = (o for node in entry.nodes for o in node.output if o and o not in kept)
        names |= {name: self.names.fresh(name) for name in dict.fromkeys(made)}
        nodes = tuple(renamed(node, names, self.names.fresh) for node in entry.nodes)
        for node in nodes:
            inherit(node, original, self.names)
        return nodes

    def _constant(self, const: Const, output: str, place: Place) -> str:
        if isinstance(const, Stored):
            return const.name
        home = self._home(const, place)
        key = (home, const)
        if key not in self._constants:
            self._constants[key] = self.names.fresh(constant_name(const, output))
            self._create(const, self._constants[key], home, place)
        return self._constants[key]

    def _home(self, const: Const, place: Place) -> ScopePath:
        """The innermost scope among the sources; that of the main graph or function when there are none."""
        scopes = [s.scope for s in _stored(const)]
        return max(scopes, key=len, default=self.view.scopes[place.scope].root().path)

    def _create(self, const: Const, name: str, home: ScopePath, place: Place) -> None:
        self.applied.constants[const] = name
        source = self.facts.source(const)
        if isinstance(const, Literal) or size(source) <= IMMEDIATE or name in self.applied.pending:
            tensor = tensors.make(name, materialize(source))
        else:
            tensor = tensors.header(name, const.dtype, const.shape)
            self.applied.pending[name] = source
        if isinstance(self.view.scopes[home].body, FunctionProto):
            node = helper.make_node("Constant", [], [name], value=tensor)
            self._constant_nodes[self._ancestor(place, home)].append(node)
        else:
            self.view.scopes[home].body.initializer.append(tensor)

    def _ancestor(self, place: Place, home: ScopePath) -> Place:
        """The node of scope `home` that `place` is, or lies in."""
        while place.scope != home:
            place = Place(place.scope[:-2], int(place.scope[-2]))
        return place

    def _settle(self) -> None:
        """Constants take over the names of the values they stand for, the first of equal ones; other readers are rewired."""
        groups: dict[tuple[Const | Runtime, Key | None], list[Settle]] = defaultdict(list)
        for entry in sorted(self.plan.settles.values(), key=lambda e: _path(e.place)):
            groups[entry.by, entry.key if entry.fixed else None].append(entry)
        for (by, _), entries in groups.items():
            name = by.name if isinstance(by, Stored | Runtime) else self._taken_over(by, entries)
            for entry in entries:
                if entry.key.name != name:
                    self._renamed[entry.key] = name
                    for use in liveness.remaining(self.view, self.plan, entry.key):
                        self.view.node(use.place).input[use.slot] = name

    def _taken_over(self, const: Const, entries: list[Settle]) -> str:
        """The name of a new constant: that of the first value, unless it would have to be visible beyond that one's scope."""
        first = entries[0]
        scopes = {entry.key.scope for entry in entries}
        home = first.key.scope if len(scopes) == 1 else self._home(const, first.place)
        own = first.fixed or (home == first.key.scope and first.key.name not in self.applied.pending)
        name = first.key.name if own else self.names.fresh(first.key.name)
        self._constants.setdefault((home, const), name)
        self._create(const, name, home, first.place)
        return name

    def _rewire(self) -> None:
        for rewire in self.plan.rewires:
            node = self.view.node(rewire.place)
            new = {node.input[rewire.slot]: self._constant(rewire.const, node.output[0], rewire.place)}
            node.input[rewire.slot] = new[node.input[rewire.slot]]
            if rewire.place in self.plan.adapts:
                self.applied.written[rewire.place] = tuple(renamed(n, new) for n in self.applied.written[rewire.place])

    def _retype(self) -> None:
        for change in self.plan.retypes:
            body = self.view.scopes[change.key.scope].body
            declared = [body.value_info, *([] if isinstance(body, FunctionProto) else [body.input, body.output])]
            for value in (v for values in declared for v in values if v.name == change.key.name):
                value.type.tensor_type.elem_type = change.dtype.code

    def _hoist(self) -> None:
        for place in sorted(self.plan.hoists, key=lambda p: (p.scope, p.index)):
            body = self.view.scopes[place.scope].body
            assert not isinstance(body, FunctionProto)
            body.initializer.append(tensors.constant_tensor(self.view.node(place), self.base_dir))

    def _drop_initializers(self, dead: Iterable[Key]) -> None:
        gone: dict[ScopePath, set[str]] = defaultdict(set)
        for key in dead:
            gone[key.scope].add(key.name)
        for path, names in gone.items():
            body = self.view.scopes[path].body
            assert not isinstance(body, FunctionProto)
            _delete(body.initializer, names)
            _delete(body.value_info, names)
            _delete(body.input, names)

    def _drop_value_infos(self) -> None:
        gone: dict[ScopePath, set[str]] = defaultdict(set)
        declaring = {path for path, scope in self.view.scopes.items() if scope.body.value_info}
        for place in self.plan.dead:
            if place.scope in declaring:
                gone[place.scope].update(self.view.node(place).output)
        for path, names in gone.items():
            _delete(self.view.scopes[path].body.value_info, names)

    def _rebuild(self, path: ScopePath) -> None:
        scope = self.view.scopes[path]
        gone = self.plan.dead | self.plan.hoists
        if not any(place.scope == path for changed in (self.applied.written, gone, self._constant_nodes) for place in changed):
            return
        places = [Place(path, index) for index in range(len(scope.nodes))]
        nodes: list[NodeProto] = []
        for place in places:
            nodes += self._constant_nodes.get(place, [])
            if place not in gone:
                nodes += self.applied.written.get(place, (scope.nodes[place.index],))
        for place in self.plan.adapts.keys() & set(places):
            _take_bodies(self.applied.written[place], scope.nodes[place.index])
        copies = type(scope.body)()
        copies.node.extend(nodes)
        del scope.body.node[:]
        scope.body.node.extend(copies.node)

    def _drop_functions(self) -> None:
        functions = self.view.proto.functions
        kept = [f for f in functions if ("function", domain(f.domain), f.name, f.overload) not in self.plan.drops]
        if len(kept) < len(functions):
            del functions[:]
            functions.extend(kept)

    def _stamp(self) -> None:
        proto = self.view.proto
        replaced = {domain(self.view.node(place).domain) for place in self.plan.replaces}
        used = set().union(*self._domains.values()) if self._domains else set()
        imports.stamp(proto, self.plan.target.opset, used)
        for function in proto.functions:
            path = ("function", domain(function.domain), function.name, function.overload)
            imports.stamp(function, self.plan.target.opset, self._domains.get(path, set()))
        imports.forget(proto, replaced - {""})


def _path(place: Place) -> tuple[int, ...]:
    """Where a node stands in its main graph or function, outermost list first."""
    inner = place.scope[4 if place.scope[:1] == ("function",) else 0 :]
    return (*(int(index) for index in inner[::2]), place.index)


def _stored(const: Const) -> Iterable[Stored]:
    if isinstance(const, Stored):
        yield const
    elif isinstance(const, Computed):
        for arg in const.args:
            yield from _stored(arg)


def _take_bodies(written: Iterable[NodeProto], original: NodeProto) -> None:
    """Bodies of a node that was said otherwise, as they have become meanwhile."""
    bodies = {a.name: a for a in original.attribute if a.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS)}
    for attribute in (a for node in written if node.op_type == original.op_type for a in node.attribute if a.name in bodies):
        attribute.CopyFrom(bodies[attribute.name])


def _delete(entries: MutableSequence[Any], names: set[str]) -> None:
    """Neighbours at once, since all that follow move up each time."""
    runs: list[slice] = []
    for index in (i for i, entry in enumerate(entries) if entry.name in names):
        start = runs.pop().start if runs and runs[-1].stop == index else index
        runs.append(slice(start, index + 1))
    for run in reversed(runs):
        del entries[run]
