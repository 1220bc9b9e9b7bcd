"""Which folds are carried out: those that are asked for, unless together they would make the model larger than they may.

Readers decide before what they read: a node whose readers have all been folded is no longer read, and goes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from qdqtool.expressions import Const, Runtime, Stored, nbytes
from qdqtool.model import trained
from qdqtool.model.graph import MAIN, Key, Place, Use
from qdqtool.passes.finding import Finder, Readers
from qdqtool.passes.given import Given
from qdqtool.passes.growth import beyond, limit
from qdqtool.passes.wishes import GROWING, Found, Kind, Wishes
from qdqtool.plan.emit import constant_name

_HEADER, _NODE = 11, 27
"""Bytes that a tensor takes in a model beside its data, name and shape; those of a Constant node beside its tensor and name."""

Group = tuple[str, bool]
"""Folds that share their largest constant, and whether they may grow."""


@dataclass(slots=True)
class Chosen:
    """The folds to carry out, by place; `gone` are the nodes whose results nobody reads any more, and the folded ones."""

    folds: dict[Place, Found] = field(default_factory=dict)
    gone: set[Place] = field(default_factory=set)
    read: set[Key] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)


def choose(given: Given, wishes: Wishes, whole: int) -> Chosen:
    """Decide for every node; `whole` is the size of all constants, of which a growth may be a share."""
    return _Choice(given, wishes, whole).made()


class _Choice:
    def __init__(self, given: Given, wishes: Wishes, whole: int) -> None:
        self._given, self._wishes = given, wishes
        self._budget = limit(wishes.max_growth, whole)
        self._finder = Finder(given, wishes)
        self._places = [p for p in reversed(given.places) if p in given.made or p in given.lifted]
        self._rejected: set[tuple[Place, Kind]] = set()
        self._trained = trained.updated(given.view.proto) | trained.read(given.view.proto)

    def made(self) -> Chosen:
        while True:
            chosen = self._round()
            rejected = self._too_large(chosen)
            if not rejected:
                chosen.remarks = self._wishes.selection.remarks(self._finder.fitted)
                return chosen
            self._rejected |= rejected

    def _round(self) -> Chosen:
        chosen = Chosen()
        for place in self._places:
            key = self._key(place)
            uses = self._given.view.uses.get(key, [])
            left = [u for u in uses if u.place not in chosen.gone]
            if not left and key not in chosen.read and not self._given.is_result(key):
                if uses:
                    chosen.gone.add(place)
            elif found := self._finder.find(place, self._readers(key, left), self._rejected):
                chosen.folds[place] = found
                chosen.gone.add(place)
                chosen.read |= self._still_read(found)
        return chosen

    def _key(self, place: Place) -> Key:
        return Key(place.scope, self._given.view.node(place).output[0])

    def _readers(self, key: Key, uses: Iterable[Use]) -> Readers:
        operators, roles = [], set[str]()
        for use in uses:
            operators.append(self._given.view.node(use.place).op_type)
            lifted = self._given.lifted.get(use.place)
            roles.add("other" if lifted is None else "x" if use.slot == lifted.source.order[0] else "parameter")
        if self._given.is_result(key):
            roles.add("other")
        return Readers(tuple(operators), frozenset(roles))

    def _still_read(self, found: Found) -> set[Key]:
        """Values of the model that the result of a fold reads."""
        scope = self._given.view.scopes[found.place.scope]
        names = [p.name for p in found.parts if isinstance(p, Stored | Runtime)]
        return {at.key for name in names if (at := self._given.view.find(scope, name))}

    def _too_large(self, chosen: Chosen) -> set[tuple[Place, Kind]]:
        """Folds of groups that grow though they must not, or beyond the budget."""
        if self._budget is None and all(found.kind in GROWING or not found.new for found in chosen.folds.values()):
            return set()
        groups: dict[Group, list[Found]] = defaultdict(list)
        for place in sorted(chosen.folds, key=lambda p: (p.scope, p.index)):
            found = chosen.folds[place]
            groups[self._group(found)].append(found)
        counted: set[Const | Place] = set()
        growth = {group: self._growth(found, chosen, counted) for group, found in groups.items()}
        grown = {g for g, size in growth.items() if size > 0 and not g[1]}
        if not grown:
            names = beyond({name: size for (name, may), size in growth.items() if may}, self._budget)
            grown = {(name, True) for name in names}
        return {(found.place, found.kind) for group in grown for found in groups[group] if found.new}

    def _group(self, found: Found) -> Group:
        largest = max(found.reads, key=nbytes, default=None)
        name = "/".join((*largest.scope, largest.name)) if largest is not None else f"{found.place}"
        return name, found.kind in GROWING

    def _growth(self, folds: Iterable[Found], chosen: Chosen, counted: set[Const | Place]) -> int:
        """Bytes of constants that these folds add, less those that go; what may not grow may use the room of its nodes as well."""
        total = 0
        for found in folds:
            total += sum(self._room(const, found) for const in set(found.new) - counted)
            total -= sum(self._room(const, found) for const in set(found.reads) - counted if self._dies(const, chosen))
            nodes = self._spared(found, chosen) - counted if found.kind not in GROWING else set[Place]()
            total -= sum(int(self._given.view.node(place).ByteSize()) for place in nodes)
            counted |= {*found.new, *found.reads, *nodes}
        return total

    def _spared(self, found: Found, chosen: Chosen) -> set[Place]:
        """Nodes that go with a fold and have none of their own."""
        nodes = {p for p in found.nodes if p in chosen.gone and p not in chosen.folds}
        return nodes | ({found.place} if found.step is None else set())

    def _room(self, const: Const, found: Found) -> int:
        """Bytes of a constant; where none may be gained also its name, type and shape, and in a function its node."""
        if found.kind in GROWING:
            return nbytes(const)
        output, place = self._given.view.node(found.place).output[0], found.place
        name = constant_name(const, output) if isinstance(const, Stored) or found.step is not None else output
        node = _NODE + len(name) if self._given.view.scopes[place.scope].root().is_function else 0
        return nbytes(const) + _HEADER + 2 * len(const.shape) + len(name) + node

    def _dies(self, const: Stored, chosen: Chosen) -> bool:
        key = Key(const.scope, const.name)
        read = key in chosen.read or self._given.is_result(key) or (key.scope == MAIN and key.name in self._trained)
        return not read and all(use.place in chosen.gone for use in self._given.view.uses.get(key, ()))
