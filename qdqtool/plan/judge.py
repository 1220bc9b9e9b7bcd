"""Nodes that are no steps: does each mean the same at the target, with the types the plan gives it?"""

from __future__ import annotations

from collections.abc import Mapping

from onnx import NodeProto

from qdqtool.dtypes import ElementType
from qdqtool.expressions import Stored
from qdqtool.kernels.sources import materialize, size
from qdqtool.model.graph import Key, Place, Scope, View, domain
from qdqtool.opsets import moves
from qdqtool.opsets.moves import Verdict
from qdqtool.plan.constants import Constants
from qdqtool.plan.types import Types, resolved

SMALL = 64


class Judge:
    """Answers for one model; `carriers` are the types that the plan has given to values so far."""

    def __init__(self, view: View, types: Types, constants: Constants, opset: int) -> None:
        self._view, self._types, self._constants, self._opset = view, types, constants, opset
        self.carriers: dict[Key, ElementType] = {}

    def verdict(self, place: Place, assumed: Mapping[Key, ElementType] | None = None, opset: int | None = None) -> Verdict:
        """Whether the node at `place` moves to the target, or to another opset; `assumed` types go before `carriers`."""
        scope = self._view.scopes[place.scope]
        known = {**self.carriers, **(assumed or {})}

        def was(name: str) -> ElementType | None:
            return self._types.at(scope, name).dtype

        def type_of(name: str) -> ElementType | None:
            found = self._view.find(scope, name)
            return known.get(found.key) or self._types.of(found.key).dtype if found else None

        return moves.judge(
            self.node(place),
            scope.imports.get("", 1),
            opset or self._opset,
            type_of,
            shape_of=lambda name: self._types.at(scope, name).shape,
            value_of=lambda name: self._values(scope, name),
            was=was,
        )

    def node(self, place: Place) -> NodeProto:
        """The node with attribute references of a function resolved."""
        scope = self._view.scopes[place.scope]
        return resolved(scope.nodes[place.index], self._types.bindings.get(scope.root().path, {}))

    def nearest(self, place: Place) -> int | None:
        """The first opset on the way from the target back to the source at which the node may stay as it is."""
        source = self._view.scopes[place.scope].imports.get("", 1)
        step = 1 if source > self._opset else -1
        return next((o for o in range(self._opset + step, source + step, step) if not self.verdict(place, opset=o).reasons), None)

    def unknown_at_source(self, place: Place) -> bool:
        node, scope = self._view.node(place), self._view.scopes[place.scope]
        return not domain(node.domain) and moves.unknown_at_source(node, scope.imports.get("", 1))

    def _values(self, scope: Scope, name: str) -> list[int] | None:
        const = self._constants.expression(scope, name)
        if not isinstance(const, Stored) or not const.dtype.integer:
            return None
        source = self._constants.open(const)
        return [int(v) for v in materialize(source).reshape(-1)] if size(source) <= SMALL else None
