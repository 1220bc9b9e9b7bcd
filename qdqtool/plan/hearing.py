"""What the target's runtime has against steps as the nodes of a model say them, where it has its say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from onnx import NodeProto

from qdqtool.model.graph import Place, View
from qdqtool.plan import roles
from qdqtool.plan.constants import Constants
from qdqtool.plan.facts import Facts
from qdqtool.plan.lift import Lifted
from qdqtool.plan.target import Target
from qdqtool.targets.demands import ANY, Part, Written, objections

REFUSED = 1 << 10
"""What a refusal weighs, in warnings."""


class Hearing:
    """What steps are for, and how the runtime of a target takes them; `node` gives a node with attributes of a function filled in."""

    def __init__(self, view: View, constants: Constants, facts: Facts, target: Target, node: Callable[[Place], NodeProto]) -> None:
        self._view, self._constants, self._facts, self._node = view, constants, facts, node
        self._demands = target.profile.demands if target.profile is not None else ()
        self._parts: dict[Place, Part] = {}

    def judged(self, lifted: Mapping[Place, Lifted]) -> dict[Place, Lifted]:
        """Steps that the runtime has something against do not stay as they are."""
        if not self._demands:
            return dict(lifted)
        self._parts = {place: roles.part(self._view, self._constants, each) for place, each in lifted.items()}
        return {place: replace(each, alone=each.alone and not self.weight(each)) for place, each in lifted.items()}

    def part(self, place: Place) -> Part:
        """What a step is for, where the runtime asks."""
        return self._parts.get(place, ANY)

    def weight(self, lifted: Lifted, attributes: Mapping[str, int] | None = None) -> int:
        """How much the runtime has against a step, with other attributes if they are given."""
        written = {a.name: a.i for a in self._node(lifted.place).attribute} if attributes is None else attributes
        ours, step = {lifted.source.ours(name): value for name, value in written.items()}, lifted.step
        said = Written(step.meaning, ours, step.x, step.scale, step.zero_point, self.part(lifted.place))
        return sum(REFUSED if c.severity == "error" else 1 for c in objections(self._demands, said, self._facts.ask))
