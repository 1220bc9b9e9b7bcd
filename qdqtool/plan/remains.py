"""What remains of patterns once they are fused: nodes that others read too, and constants that would be there twice."""

from __future__ import annotations

from collections.abc import Mapping, Set

from qdqtool.expressions import Computed, Stored, constants_of, nbytes, walk
from qdqtool.model.graph import Key, Place, View
from qdqtool.plan.entries import Replace

SMALL = 1 << 12
"""Bytes up to which a constant may stay beside its new form."""

Claims = Mapping[Place, frozenset[Place]]
"""By the last node of a pattern, the others."""


def gone(view: View, entries: Mapping[Place, Replace], claimed: Claims) -> set[Place]:
    """Nodes of patterns that nobody reads any more."""
    found = {place for anchor in entries for place in claimed[anchor]}
    while stay := {place for place in found if _read_elsewhere(view, place, found, entries, claimed)}:
        found -= stay
    return found


def _read_elsewhere(view: View, place: Place, found: Set[Place], entries: Mapping[Place, Replace], claimed: Claims) -> bool:
    keys = [Key(place.scope, name) for name in view.node(place).output if name]
    readers = {use.place for key in keys for use in view.uses.get(key, ())}
    within = all(reader in found or (reader in entries and place in claimed[reader]) for reader in readers)
    return not within or any(view.results.get(key) for key in keys)


def torn(view: View, entries: Mapping[Place, Replace], claimed: Claims) -> set[Place]:
    """Entries that make something of a constant that would stay in the model too."""
    nodes = gone(view, entries, claimed)
    kept = {c for entry in entries.values() for c in constants_of(entry.outputs[0][1]) if isinstance(c, Stored)}

    def stays(const: Stored) -> bool:
        key = Key(const.scope, const.name)
        readers = (use.place for use in view.uses.get(key, ()))
        return const in kept or bool(view.results.get(key)) or any(r not in nodes and r not in entries for r in readers)

    return {
        place
        for place, entry in entries.items()
        for const in constants_of(entry.outputs[0][1])
        if isinstance(const, Computed) and any(stays(e) for e in walk(const) if isinstance(e, Stored) and nbytes(e) > SMALL)
    }
