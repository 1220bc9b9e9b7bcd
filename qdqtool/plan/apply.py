"""Carrying a plan out on the protobuf: every changed node list is rebuilt once, innermost scopes first.

Constants that need computing get a header without data; ``Applied.pending`` tells by name what fills them when the model is saved.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, MutableSequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onnx import AttributeProto, FunctionProto, ModelProto, NodeProto, helper

from qdqtool.expressions import Computed, Const, Literal, Stored
from qdqtool.kernels.sources import Source, materialize, size
from qdqtool.model import tensors
from qdqtool.model.graph import Key, Place, ScopePath, View, domain
from qdqtool.model.names import Names
from qdqtool.opsets.bodies import renamed
from qdqtool.opsets.edits import AttributeEdit, carry_out
from qdqtool.plan import imports, liveness
from qdqtool.plan.emit import Emitter, constant_name, inherit
from qdqtool.plan.entries import Plan
from qdqtool.plan.facts import Facts

IMMEDIATE = 1 << 14
"""Elements up to which a computed constant is put into the model at once."""


@dataclass(slots=True)
class Applied:
    """The changed model and what is still to be computed."""

    proto: ModelProto
    pending: dict[str, Source] = field(default_factory=dict)
    written: dict[Place, tuple[NodeProto, ...]] = field(default_factory=dict)


def apply_plan(view: View, plan: Plan, facts: Facts, base_dir: Path | None) -> Applied:
    """Change the model of `view` as planned, in place; `view` is stale afterwards."""
    return _Application(view, plan, facts, base_dir).run()


class _Application:
    def __init__(self, view: View, plan: Plan, facts: Facts, base_dir: Path | None) -> None:
        self.view, self.plan, self.facts, self.base_dir = view, plan, facts, base_dir
        self.names = Names.of_view(view)
        self.applied = Applied(view.proto)
        self._constants: dict[tuple[ScopePath, Const], str] = {}
        self._constant_nodes: dict[Place, list[NodeProto]] = defaultdict(list)
        self._domains: dict[ScopePath, set[str]] = defaultdict(set)

    def run(self) -> Applied:
        dead = liveness.dead_initializers(self.view, self.plan)
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
        self._stamp()
        return self.applied

    def _written(self, place: Place) -> list[NodeProto]:
        entry = self.plan.replaces[place]
        emitter = Emitter(self.names, lambda const, output: self._constant(const, output, place), self.view.node(place))
        for output, expr in entry.outputs:
            emitter.write(expr, output)
        self._domains[self.view.scopes[place.scope].root().path] |= {n.domain for n in emitter.nodes if n.domain}
        return emitter.nodes

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
        source = self.facts.source(const)
        if isinstance(const, Literal) or size(source) <= IMMEDIATE:
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
        for place in self.plan.dead:
            gone[place.scope] |= set(self.view.node(place).output)
        for path, names in gone.items():
            _delete(self.view.scopes[path].body.value_info, names)

    def _rebuild(self, path: ScopePath) -> None:
        scope = self.view.scopes[path]
        places = [Place(path, index) for index in range(len(scope.nodes))]
        gone = self.plan.dead | self.plan.hoists
        if not any(p in self.applied.written or p in gone or p in self._constant_nodes for p in places):
            return
        nodes: list[NodeProto] = []
        for place in places:
            nodes += self._constant_nodes.get(place, [])
            if place not in gone:
                nodes += self.applied.written.get(place, (scope.nodes[place.index],))
        for place in self.plan.adapts.keys() & set(places):
            _take_bodies(self.applied.written[place], scope.nodes[place.index])
        copies = [_copy(n) for n in nodes]
        del scope.body.node[:]
        scope.body.node.extend(copies)

    def _stamp(self) -> None:
        proto = self.view.proto
        replaced = {domain(self.view.node(place).domain) for place in self.plan.replaces}
        used = set().union(*self._domains.values()) if self._domains else set()
        imports.stamp(proto, self.plan.target.opset, used)
        kept = [f for f in proto.functions if ("function", domain(f.domain), f.name, f.overload) not in self.plan.drops]
        if len(kept) < len(proto.functions):
            del proto.functions[:]
            proto.functions.extend(kept)
        for function in proto.functions:
            path = ("function", domain(function.domain), function.name, function.overload)
            imports.stamp(function, self.plan.target.opset, self._domains.get(path, set()))
        imports.forget(proto, replaced - {""})


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


def _copy(node: NodeProto) -> NodeProto:
    copy = NodeProto()
    copy.CopyFrom(node)
    return copy


def _delete(entries: MutableSequence[Any], names: set[str]) -> None:
    for index in reversed([i for i, entry in enumerate(entries) if entry.name in names]):
        del entries[index]
