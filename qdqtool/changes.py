"""What a conversion did to each node, in the words and numbers of its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from onnx import NodeProto

from qdqtool.exactness import NO_BOUND, Bound, Exactness
from qdqtool.expressions import Expr, constants_of, nbytes
from qdqtool.model.graph import Place, View
from qdqtool.plan.entries import Adapt, Plan, Replace, Respell


@dataclass(frozen=True, slots=True)
class Change:
    """One rewritten node.

    `where` names it, `what` says what it means, `how` lists the lowerings (empty: only respelled), `nodes` and `bytes`
    count nodes and bytes of constants before and after.
    """

    where: str
    what: str
    how: tuple[str, ...]
    exactness: Exactness
    bound: Bound
    nodes: tuple[int, int]
    bytes: tuple[int, int]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "where": self.where,
            "what": self.what,
            "how": list(self.how),
            "exactness": str(self.exactness),
            "bound": str(self.bound),
            "nodes": list(self.nodes),
            "bytes": list(self.bytes),
        }


def planned(view: View, plan: Plan) -> dict[Place, Change]:
    """The changes of a plan that is not yet applied; how many nodes replace one is not known before."""
    entries: dict[Place, Respell | Replace | Adapt] = {**plan.respells, **plan.replaces, **plan.adapts}
    return {place: _change(view.title(place), entry) for place, entry in entries.items()}


def counted(changes: Mapping[Place, Change], written: Mapping[Place, tuple[NodeProto, ...]]) -> tuple[Change, ...]:
    """The changes with the number of nodes that were written."""
    return tuple(
        replace(change, nodes=(change.nodes[0], len(written[place]))) if place in written else change for place, change in changes.items()
    )


def _change(where: str, entry: Respell | Replace | Adapt) -> Change:
    match entry:
        case Respell():
            size = _size(entry.step)
            return Change(where, entry.what, (), Exactness.BIT_EQUAL, NO_BOUND, (1, 1), (size, size))
        case Replace():
            sizes = _size(entry.before or entry.step), sum(_size(expr) for _, expr in entry.outputs)
            return Change(where, entry.what, entry.how, entry.exactness, entry.bound, (1 + len(entry.claimed), 0), sizes)
        case Adapt():
            sizes = 0, sum(nbytes(c) for c in entry.constants.values())
            return Change(where, entry.what, entry.how, entry.exactness, entry.bound, (1, 0), sizes)


def _size(expr: Expr | None) -> int:
    """Bytes of the constants that an expression reads."""
    return 0 if expr is None else sum(nbytes(c) for c in constants_of(expr))
