"""Element types and shapes of all values: what the model declares, what onnx infers without weights, functions by their calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, ValueInfoProto, checker, helper, shape_inference

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Shape
from qdqtool.model import tensors
from qdqtool.model.graph import MAIN, Key, Scope, ScopePath, View, domain, subgraphs
from qdqtool.plan import outline


@dataclass(frozen=True, slots=True)
class Type:
    """What is known of a value; `other` tells a sequence, optional or map."""

    dtype: ElementType | None = None
    shape: Shape | None = None
    other: bool = False


UNKNOWN = Type()


@dataclass(frozen=True, slots=True)
class Variant:
    """One way in which a function is called: types of its inputs and values of its attributes."""

    inputs: tuple[Type, ...]
    bindings: dict[str, AttributeProto]


class Types:
    """Types of the values of a model, by the scope that defines them; without `infer` only those that the model itself declares."""

    def __init__(self, view: View, *, infer: bool = True) -> None:
        self.view, self._infer = view, infer
        self._table: dict[Key, Type] = {}
        self._declared: dict[bytes, Type] = {}
        self.conflicts: dict[ScopePath, tuple[Variant, ...]] = {}
        self.uncalled: set[ScopePath] = set()
        self.signatures: dict[ScopePath, tuple[Type, ...]] = {}
        self.bindings: dict[ScopePath, dict[str, AttributeProto]] = {}
        graph = view.proto.graph
        self._collect(view.scopes[MAIN], self._inferred(outline.of_graph(graph, tidy=view.tidy)) if infer else graph)
        for scope in _functions_by_call(view):
            self._function(scope)

    def at(self, scope: Scope, name: str) -> Type:
        """Type of what `name` means in `scope`."""
        found = self.view.find(scope, name)
        return self._table.get(found.key, UNKNOWN) if found else UNKNOWN

    def of(self, key: Key) -> Type:
        return self._table.get(key, UNKNOWN)

    def within(self, scope: Scope) -> dict[str, ElementType | None]:
        """Element types of what a scope itself defines, by name."""
        return {key.name: known.dtype for key, known in self._table.items() if key.scope == scope.path}

    def learn(self, key: Key, dtype: ElementType | None, shape: Shape | None) -> None:
        """Add what a step tells about its result where inference, which does not know every dialect, told nothing."""
        known = self.of(key)
        if known.dtype is None and dtype is not None:
            self._table[key] = Type(dtype, known.shape if known.shape is not None else shape)

    def _collect(self, scope: Scope, graph: GraphProto) -> None:
        for value in (*graph.value_info, *graph.input, *graph.output):
            self._note(scope, value)
        stored: dict[tuple[int, tuple[int, ...]], Type] = {}
        for tensor in graph.initializer:
            header = tensor.data_type, tuple(tensor.dims[:])
            if header not in stored:
                stored[header] = Type(dtypes.of_code(header[0]), header[1])
            self._table[Key(scope.path, tensor.name)] = stored[header]
        for node in scope.nodes:
            if node.op_type == "Constant" and not domain(node.domain):
                self._constant(scope, node)
        inferred = {tuple(n.output): n for n in graph.node} if scope.children else {}
        for index, attribute in scope.children:
            light = inferred.get(tuple(scope.nodes[index].output))
            for name, below in subgraphs(light) if light is not None else ():
                if name == attribute:
                    self._collect(scope.children[index, attribute], below)

    def _note(self, scope: Scope, value: ValueInfoProto) -> None:
        spelled = value.type.SerializeToString()
        found = self._declared.get(spelled)
        if found is None:
            found = self._declared[spelled] = declared(value)
        key = Key(scope.path, value.name)
        known = self._table.setdefault(key, found)
        if known is not found:
            shape = found.shape if found.shape is not None else known.shape
            self._table[key] = Type(found.dtype or known.dtype, shape, found.other or known.other)

    def _constant(self, scope: Scope, node: NodeProto) -> None:
        header = tensors.constant_header(node)
        if header is not None:
            self._table[Key(scope.path, node.output[0])] = Type(*header)

    def _function(self, scope: Scope) -> None:
        calls = self.view.calls.get(scope.path, ())
        if not calls:
            self.uncalled.add(scope.path)
            return
        keys = dict.fromkeys((tuple(self.at(caller, i) for i in node.input), _bound(scope, node)) for caller, node in calls)
        variants = tuple(Variant(inputs, _parsed(attributes)) for inputs, attributes in keys)
        if len(variants) > 1:
            self.conflicts[scope.path] = variants
            return
        self.bindings[scope.path] = variants[0].bindings
        self.signatures[scope.path] = variants[0].inputs
        self._collect(scope, self._inferred(self._body(scope, variants[0].inputs)))

    def _inferred(self, graph: GraphProto) -> GraphProto:
        """The graph with inferred types; as it was when onnx refuses it."""
        return _inferred(self.view.proto, graph) if self._infer else graph

    def _body(self, scope: Scope, signature: Sequence[Type]) -> GraphProto:
        assert isinstance(scope.body, FunctionProto)
        graph = GraphProto(name=scope.body.name)
        graph.input.extend(typed(name, known) for name, known in zip(scope.inputs, signature, strict=False))
        graph.value_info.extend(scope.body.value_info)
        for node in scope.nodes:
            graph.node.append(resolved(outline.of_node(node, {}), self.bindings[scope.path]))
        graph.output.extend(ValueInfoProto(name=o) for o in scope.outputs)
        return graph


def resolved(node: NodeProto, bindings: dict[str, AttributeProto]) -> NodeProto:
    """A node of a function with its attribute references replaced by what the calls give; unbound ones vanish."""
    if not node.attribute or not any(a.ref_attr_name for a in node.attribute):
        return node
    copy = NodeProto()
    copy.CopyFrom(node)
    del copy.attribute[:]
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            copy.attribute.append(attribute)
        elif attribute.ref_attr_name in bindings:
            copy.attribute.append(bindings[attribute.ref_attr_name])
            copy.attribute[-1].name = attribute.name
    return copy


def declared(value: ValueInfoProto) -> Type:
    """What a declaration says."""
    kind = value.type.WhichOneof("value")
    if kind is None:
        return UNKNOWN
    if kind != "tensor_type":
        return Type(other=True)
    tensor = value.type.tensor_type
    dims = tuple(d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else None for d in tensor.shape.dim)
    return Type(dtypes.of_code(tensor.elem_type), dims if tensor.HasField("shape") else None)


def _parsed(attributes: tuple[bytes, ...]) -> dict[str, AttributeProto]:
    return {a.name: a for a in map(AttributeProto.FromString, attributes)}


def typed(name: str, known: Type) -> ValueInfoProto:
    """A declaration of what is known."""
    if known.dtype is None:
        return ValueInfoProto(name=name)
    shape = None if known.shape is None else [d if d is not None else f"{name}_{i}" for i, d in enumerate(known.shape)]
    return helper.make_tensor_value_info(name, known.dtype.code, shape)


def _inferred(model: ModelProto, graph: GraphProto) -> GraphProto:
    """The graph with inferred types; as it was when onnx refuses it."""
    light = outline.of_model(model, graph)
    try:
        return shape_inference.infer_shapes(light, check_type=False, strict_mode=False).graph
    except (shape_inference.InferenceError, checker.ValidationError, RuntimeError, ValueError):
        return graph


def _functions_by_call(view: View) -> list[Scope]:
    """Function bodies, callers before callees as far as there are no cycles."""
    roots = [s for s in view.scopes.values() if s.is_function]
    done: list[Scope] = []
    waiting = dict.fromkeys(roots)
    while waiting:
        ready = [s for s in waiting if all(c.root() is s or c.root() not in waiting for c, _ in view.calls.get(s.path, ()))]
        ready = ready or list(waiting)[:1]
        done += ready
        for scope in ready:
            del waiting[scope]
    return done


def _bound(scope: Scope, node: NodeProto) -> tuple[bytes, ...]:
    assert isinstance(scope.body, FunctionProto)
    given = {a.name: a for a in node.attribute}
    defaults = {a.name: a for a in scope.body.attribute_proto}
    return tuple(a.SerializeToString(deterministic=True) for _, a in sorted({**defaults, **given}.items()))
