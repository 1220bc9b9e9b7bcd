"""The changes of the protobuf that fixes of values and patterns are made of."""

from __future__ import annotations

import numpy as np

from qdqtool.findings import Fix
from qdqtool.kernels.sources import Array
from qdqtool.linting.mends import attribute, forget, new_constant
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place


def codes_and_scale(subject: Subject, place: Place, codes: Array, scales: Array) -> Fix:
    """Other codes under other scales for a dequantize node of one axis, which stand for nearly the same values."""
    lifted = subject.steps[place]
    typed = scales.astype(lifted.step.scale.dtype.numpy) if lifted.step.scale.dtype else scales

    def apply() -> None:
        node = subject.node(place)
        zero = node.input[lifted.source.order[2]] if len(node.input) > lifted.source.order[2] else ""
        _give(subject, place, 0, codes)
        _give(subject, place, 1, np.ascontiguousarray(typed))
        if zero:
            _give(subject, place, 2, np.zeros(typed.shape, codes.dtype))
        attribute(subject, place, "axis", 0).apply()

    return Fix("write the codes anew for the scale x_scale * w_scale", False, apply)


def _give(subject: Subject, place: Place, role: int, values: Array) -> None:
    node, scope, slot = subject.node(place), subject.scope(place), subject.steps[place].source.order[role]
    old = node.input[slot]
    node.input[slot] = new_constant(subject, scope, node, f"{old}_new", values)
    forget(subject, place, slot, old)


def removed(subject: Subject, place: Place) -> Fix:
    """A node that nobody reads, taken away."""
    node, body = subject.node(place), subject.scope(place).body

    def apply() -> None:
        at = next((i for i, n in enumerate(body.node) if n is node or n == node), None)
        if at is not None:
            del body.node[at]
            for slot, name in enumerate(node.input):
                if name:
                    forget(subject, place, slot, name)

    return Fix("remove the node, which nobody reads", True, apply)


def replaced(subject: Subject, place: Place, name: str) -> Fix | None:
    """Readers of a node read another value of its scope instead; None when its result is one of the graph."""
    found = subject.view.find(subject.scope(place), subject.node(place).output[0])
    if found is None or found.key in subject.view.results:
        return None
    uses = list(subject.view.uses.get(found.key, ()))

    def apply() -> None:
        for use in uses:
            subject.node(use.place).input[use.slot] = name

    return Fix(f"read '{name}' instead", True, apply)


def rewired(subject: Subject, place: Place, names: dict[int, str], title: str) -> Fix:
    """A node reads other values."""

    def apply() -> None:
        for slot, name in names.items():
            subject.node(place).input[slot] = name

    return Fix(title, False, apply)
