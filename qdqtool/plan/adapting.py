"""Nodes that are no steps and mean something else at the target: asked for in other words, with what the model knows around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.exactness import Exactness
from qdqtool.expressions import Shape, literal
from qdqtool.kernels.sources import Array, materialize, size
from qdqtool.model.graph import Definition, Place, Scope, domain
from qdqtool.opsets.adapt import Adapted
from qdqtool.opsets.folding import LARGEST, Partial, fold
from qdqtool.opsets.reading import reads
from qdqtool.plan.entries import Adapt
from qdqtool.plan.target import Target

if TYPE_CHECKING:
    from qdqtool.plan.build import Builder

_DEEPEST = 24


class Around:
    """What the builder knows of the values a node reads and gives (a ``Situation``)."""

    def __init__(self, builder: Builder, scope: Scope) -> None:
        self._builder, self._scope = builder, scope

    def type_of(self, name: str) -> ElementType | None:
        found = self._builder.view.find(self._scope, name)
        return None if found is None else self._builder.judge.carriers.get(found.key) or self._builder.types.of(found.key).dtype

    def shape_of(self, name: str) -> Shape | None:
        return self._builder.types.at(self._scope, name).shape

    def value_of(self, name: str) -> Array | None:
        found = self._builder.view.find(self._scope, name)
        return None if found is None else _value(self._builder, found, _DEEPEST)


def _value(builder: Builder, found: Definition, depth: int) -> Array | None:
    """The elements of a small constant, or of what a few nodes make of constants and of known shapes."""
    key = found.key
    if key not in builder.values:
        builder.values[key] = None
        if key not in builder.judge.carriers:
            builder.values[key] = _stored(builder, found)
            if builder.values[key] is None and found.kind == "node" and depth:
                builder.values[key] = _computed(builder, found, depth)
    return builder.values[key]


def _stored(builder: Builder, found: Definition) -> Array | None:
    const = builder.constants.constant(found)
    if const is None:
        return None
    source = builder.facts.source(const)
    return materialize(source) if size(source) <= LARGEST else None


def _computed(builder: Builder, found: Definition, depth: int) -> Array | None:
    scope = builder.view.scopes[found.key.scope]
    node = builder.judge.node(Place(found.key.scope, found.index))
    if domain(node.domain) or len(node.output) != 1 or node.op_type == "Constant":
        return None

    def value_of(name: str) -> Array | None:
        below = builder.view.find(scope, name)
        return None if below is None else _value(builder, below, depth - 1)

    result = fold(node, value_of, lambda name: builder.types.at(scope, name).shape)
    return None if isinstance(result, Partial) else result


def adapted(builder: Builder, place: Place) -> Adapt | list[str]:
    """The node at `place` in the target's words, or why there are none."""
    scope, target = builder.view.scopes[place.scope], builder.target
    node = builder.judge.node(place)
    found = builder.sayings.adapt(node, scope.imports.get("", 1), target.opset, Around(builder, scope))
    if not isinstance(found, Adapted):
        return found
    if found.exactness > _weakest(target):
        return [f"only an {found.exactness} form of {node.op_type} exists ({', '.join(found.how)})"]
    constants = {name: literal(array, dtypes.of_numpy(array.dtype)) for name, array in found.constants.items()}
    what = f"{node.op_type} of opset {scope.imports.get('', 1)}"
    return Adapt(place, found.nodes, constants, _read(found), what, found.how, found.exactness, found.bound)


def _weakest(target: Target) -> Exactness:
    if target.exact:
        return Exactness.VALUE_EQUAL
    return Exactness.APPROXIMATE if target.approximate else Exactness.ROUNDING


def _read(found: Adapted) -> frozenset[str]:
    """Names of the model that the new nodes read."""
    made = {o for node in found.nodes for o in node.output} | set(found.constants)
    return frozenset(name for node in found.nodes for name in reads(node)) - made
