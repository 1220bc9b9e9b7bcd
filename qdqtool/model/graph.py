"""A thin view of a model: who produces a value, who uses it, in which scope. It reads the protobuf and never changes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

ScopePath = tuple[str, ...]
"""``()`` is the main graph, ``("function", domain, name, overload)`` a function's body; a subgraph adds ``(node index, attribute)``."""

MAIN: ScopePath = ()


class Key(NamedTuple):
    """One value: the scope that defines it and its name there."""

    scope: ScopePath
    name: str


class Place(NamedTuple):
    """One node: its scope and its index in that scope's node list."""

    scope: ScopePath
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody needs


class Use(NamedTuple):
    """An operand: node `place` reads the value as its input number `slot`."""

    place: Place
    slot: int


class Definition(NamedTuple):
    """Where a value comes from; `index` is the producing node, or the position among the scope's inputs."""

    key: Key
    kind: Literal["input", "initializer", "node"]
    index: int = -1  # type: ignore[assignment]
    slot: int = 0


@dataclass(slots=True, eq=False)
class Scope:
    """One graph, subgraph or function body."""

    path: ScopePath
    body: GraphProto | FunctionProto
    imports: Mapping[str, int]
    parent: Scope | None
    nodes: Sequence[NodeProto]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    initializers: Mapping[str, TensorProto]
    sparse: frozenset[str]
    producers: Mapping[str, tuple[int, int]]
    children: dict[tuple[int, str], Scope] = field(default_factory=dict)
    found: dict[str, Definition | None] = field(default_factory=dict)
    reads: list[list[Key]] = field(default_factory=list)
    """The values that each node has as operands."""

    @property
    def is_function(self) -> bool:
        return isinstance(self.body, FunctionProto)

    def root(self) -> Scope:
        """The main graph or function this scope lies in."""
        return self if self.parent is None else self.parent.root()

    def title(self) -> str:
        """The scope in words, for messages."""
        if self.parent is None:
            return f"function {self.path[2]}" if self.is_function else "main"
        node = self.parent.nodes[int(self.path[-2])]
        return f"{self.parent.title()} / {label(node)}.{self.path[-1]}"


def label(node: NodeProto) -> str:
    """How messages call a node: its name, else its operator and first output."""
    return node.name or f"{node.op_type}({next((o for o in node.output if o), '')})"


def domain(name: str) -> str:
    """The default domain has two spellings."""
    return "" if name == "ai.onnx" else name


def imports_of(opsets: Sequence[object]) -> dict[str, int]:
    """Domain to version; of doubled entries the last counts, as in ONNX Runtime."""
    return {domain(o.domain): o.version for o in opsets}  # type: ignore[attr-defined]


def subgraphs(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """The graphs that a node holds in its attributes."""
    for attribute in node.attribute:
        kind = attribute.type
        if kind == AttributeProto.GRAPH:
            yield attribute.name, attribute.g
        elif kind == AttributeProto.GRAPHS:
            yield from ((f"{attribute.name}[{number}]", graph) for number, graph in enumerate(attribute.graphs))


class View:
    """All scopes of a model, with definitions and uses resolved across them."""

    def __init__(self, proto: ModelProto) -> None:
        self.proto = proto
        self.scopes: dict[ScopePath, Scope] = {}
        self.functions = {(domain(f.domain), f.name, f.overload): f for f in proto.functions}
        self._add(MAIN, proto.graph, imports_of(proto.opset_import), None)
        for (dom, name, overload), function in self.functions.items():
            self._add(("function", dom, name, overload), function, imports_of(function.opset_import), None)
        self._frozen_inputs = proto.ir_version < 4
        self._places: list[tuple[Place, Scope, NodeProto]] = []
        self.uses: dict[Key, list[Use]] = {}
        self.results: dict[Key, list[ScopePath]] = {}
        for scope in self.scopes.values():
            self._index(scope)

    def _add(self, path: ScopePath, body: GraphProto | FunctionProto, imports: Mapping[str, int], parent: Scope | None) -> None:
        nodes = list(body.node)
        if isinstance(body, FunctionProto):
            inputs, outputs = tuple(body.input), tuple(body.output)
            initializers: dict[str, TensorProto] = {}
            sparse: frozenset[str] = frozenset()
        else:
            inputs, outputs = tuple(v.name for v in body.input), tuple(v.name for v in body.output)
            initializers = {t.name: t for t in body.initializer}
            sparse = frozenset(t.values.name for t in body.sparse_initializer)
        producers, holders = dict[str, tuple[int, int]](), []
        for index, node in enumerate(nodes):
            for slot, name in enumerate(node.output[:]):
                if name:
                    producers[name] = index, slot
            if node.attribute:
                holders.append((index, node))
        scope = Scope(path, body, imports, parent, nodes, inputs, outputs, initializers, sparse, producers)
        self.scopes[path] = scope
        for index, node in holders:
            for attribute, graph in subgraphs(node):
                below = (*path, str(index), attribute)
                self._add(below, graph, imports, scope)
                scope.children[index, attribute] = self.scopes[below]

    def _index(self, scope: Scope) -> None:
        uses, known, path = self.uses, scope.found, scope.path
        for index, node in enumerate(scope.nodes):
            place, keys = Place(path, index), list[Key]()
            for slot, name in enumerate(node.input[:]):  # the slice is read at once, which is quicker
                if name in known:
                    at = known[name]
                elif name:
                    at = known[name] = self._find(scope, name)
                else:
                    continue
                if at is not None:
                    keys.append(at.key)
                    uses.setdefault(at.key, []).append(Use(place, slot))
            scope.reads.append(keys)
        for name in scope.outputs:
            if found := self.find(scope, name):
                self.results.setdefault(found.key, []).append(scope.path)

    def find(self, scope: Scope, name: str) -> Definition | None:
        """The definition that `name` means in `scope`; None when nothing defines it."""
        known = scope.found
        if name not in known:
            known[name] = self._find(scope, name)
        return known[name]

    def _find(self, scope: Scope, name: str) -> Definition | None:
        at: Scope | None = scope
        while at is not None:
            made = at.producers.get(name)
            if made is not None:
                return Definition(Key(at.path, name), "node", *made)
            if name in at.initializers or name in at.sparse:
                if name not in at.inputs or self._frozen_inputs:
                    return Definition(Key(at.path, name), "initializer")
                return Definition(Key(at.path, name), "input", at.inputs.index(name))
            if name in at.inputs:
                return Definition(Key(at.path, name), "input", at.inputs.index(name))
            at = at.parent
        return None

    @cached_property
    def tidy(self) -> bool:
        """Whether this is one graph without subgraphs and functions, sorted, every name in it text and defined once: most models are.

        Nothing has to be tidy; what is not is only slower to judge.
        """
        scope = self.scopes[MAIN]
        if len(self.scopes) > 1 or None in scope.found.values() or not isinstance(scope.body, GraphProto):
            return False
        operators = {node.op_type for node in scope.nodes} | {node.domain for node in scope.nodes}
        if not all(isinstance(name, str) for name in (*operators, *scope.imports)):
            return False
        stored, made = scope.initializers.keys() | scope.sparse, scope.producers
        counts = (
            (len(made), sum(len(names) - names.count("") for names in [node.output[:] for node in scope.nodes])),
            (len(stored), len(scope.body.initializer) + len(scope.body.sparse_initializer)),
            (len(set(scope.inputs)), len(scope.inputs)),
        )
        once = all(distinct == number for distinct, number in counts) and made.keys().isdisjoint({*stored, *scope.inputs})
        late = (made[key.name][0] >= index for index, keys in enumerate(scope.reads) for key in keys if key.name in made)
        return once and not any(late)

    def node(self, place: Place) -> NodeProto:
        return self.scopes[place.scope].nodes[place.index]

    def title(self, place: Place) -> str:
        """A node in words: ``main / conv1.DequantizeLinear``."""
        return f"{self.scopes[place.scope].title()} / {label(self.node(place))}"

    def places(self) -> Iterator[tuple[Place, Scope, NodeProto]]:
        """Every node of every scope."""
        if not self._places:
            scopes = self.scopes.values()
            self._places = [(Place(scope.path, index), scope, node) for scope in scopes for index, node in enumerate(scope.nodes)]
        return iter(self._places)

    @cached_property
    def calls(self) -> Mapping[ScopePath, Sequence[tuple[Scope, NodeProto]]]:
        """Nodes that call a function, by the path of its body."""
        found: dict[ScopePath, list[tuple[Scope, NodeProto]]] = {}
        for _, scope, node in self.places() if self.functions else ():
            name = domain(node.domain), node.op_type, node.overload
            if name in self.functions:
                found.setdefault(("function", *name), []).append((scope, node))
        return found

    def function_of(self, node: NodeProto) -> FunctionProto | None:
        """The local function that a node calls."""
        return self.functions.get((domain(node.domain), node.op_type, node.overload))
