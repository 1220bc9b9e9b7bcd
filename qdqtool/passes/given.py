"""What a pass knows of a model: its values in the order in which they arise, and which of them are constants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from qdqtool.expressions import Const, Step
from qdqtool.kernels.sources import materialize, size
from qdqtool.model.graph import Key, Place, Scope, View
from qdqtool.model.structure import order
from qdqtool.plan import liveness
from qdqtool.plan.choose import Chooser
from qdqtool.plan.constants import Constants
from qdqtool.plan.facts import Facts
from qdqtool.plan.legalize import Site
from qdqtool.plan.lift import Lifted
from qdqtool.plan.target import Target
from qdqtool.plan.types import Types

FEW = 1 << 16
"""Most elements of a constant that tells axes, shapes or indices."""


@dataclass(frozen=True, slots=True)
class Made:
    """A node that makes a constant: its value, the dequantize step that the value is the result of, and which nodes it takes.

    `weight` is how many operations the expression of the value spells out, shared ones as often as they are used.
    """

    const: Const
    step: Step | None
    nodes: tuple[Place, ...]
    weight: int


class Given:
    """One model, before anything is decided; `reading.read` fills in what its nodes make.

    `places` are its nodes, producers first; `lifted` the quantize and dequantize steps among them, `made` those whose results are
    constants. `kept_names` are values that annotations speak of, `shadowed` names that mean something else in a body than around it.
    """

    def __init__(self, view: View, base_dir: Path | None) -> None:
        self.view = view
        self.types = Types(view, infer=_has_pairs(view))
        self.constants = Constants(view, self.types, base_dir)
        self.facts = Facts(self.constants.open)
        self.lifted: dict[Place, Lifted] = {}
        self.made: dict[Place, Made] = {}
        self.places = [Place(path, index) for path, scope in view.scopes.items() for index in _order(view, scope)]
        self.kept_names = liveness.annotated(view)
        self.shadowed = _shadowed(view)
        self._choosers: dict[tuple[object, str], Chooser] = {}

    def chooser(self, place: Place, dialect: str) -> Chooser:
        """Chooses a form at the model's own opset, in a step's own dialect."""
        root = self.view.scopes[place.scope].root()
        key = (root.path, dialect)
        if key not in self._choosers:
            site = Site(self.target(place, dialect), root.imports, root.is_function)
            self._choosers[key] = Chooser(site, self.facts)
        return self._choosers[key]

    def target(self, place: Place, dialect: str | None = None) -> Target:
        """The opset that a node is of."""
        return Target(self.view.scopes[place.scope].imports.get("", 1), dialect, exact=True)

    def producer(self, scope: Scope, name: str) -> Place | None:
        """The node that gives what `name` means in `scope`."""
        found = self.view.find(scope, name)
        return Place(found.key.scope, found.index) if found is not None and found.kind == "node" else None

    def is_result(self, key: Key) -> bool:
        """A name that outlives every fold: an output of its graph, or one that an annotation speaks of."""
        return bool(self.view.results.get(key)) or key in self.kept_names

    def integers(self, const: Const) -> list[int] | None:
        """The elements of a small integer constant; None for any other."""
        if not const.dtype.integer:
            return None
        source = self.facts.source(const)
        return [int(v) for v in materialize(source).reshape(-1)] if size(source) <= FEW else None


def _shadowed(view: View) -> set[str]:
    inside = ((scope, scope.parent) for scope in view.scopes.values() if scope.parent is not None)
    return {name for scope, around in inside for name in _names(scope) if view.find(around, name) is not None}


def _names(scope: Scope) -> Iterable[str]:
    return (*scope.inputs, *scope.initializers, *scope.sparse, *scope.producers)


def _has_pairs(view: View) -> bool:
    """A quantize step reads what a dequantize step gives: only then do types count that the model does not declare."""
    for scope in view.scopes.values():
        for node in scope.nodes:
            found = view.find(scope, node.input[0]) if node.op_type == "QuantizeLinear" and node.input else None
            if found is not None and found.kind == "node" and view.node(Place(found.key.scope, found.index)).op_type == "DequantizeLinear":
                return True
    return False


def _order(view: View, scope: Scope) -> Sequence[int]:
    """Indices of nodes, producers first; what bodies take from outside counts as read by the node that holds them."""
    if view.tidy:
        return range(len(scope.nodes))
    made = scope.producers
    late = (made[name][0] >= index for index, node in enumerate(scope.nodes) for name in node.input if name in made)
    return order(list(scope.nodes)) if scope.children or any(late) else range(len(scope.nodes))
