"""Regions: values that hold codes, joined through operators that only move them, so that one carrier type serves them all.

Graph inputs and outputs, function borders and operators that compute with codes pin a region to its storage type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.model.graph import Definition, Key, Place, Scope, ScopePath, Use, View, domain, label
from qdqtool.plan.constants import Constants
from qdqtool.plan.lift import Lifted
from qdqtool.plan.links import links_back, links_forward, links_from_result, links_out_of_body, owner_of

READERS = ("Cast", "Shape", "Size")
"""Operators that give the same for the same values in another type."""


def carriers(storage: ElementType) -> tuple[ElementType, ...]:
    """Wider types that hold every code of a storage type exactly, narrowest first."""
    if storage.bits > 16:
        return ()
    if not storage.integer:
        return (dtypes.FLOAT,)
    byte = dtypes.INT8 if storage.kind == "int" else dtypes.UINT8
    return (byte if storage.bits < 8 else dtypes.INT32, dtypes.FLOAT)


@dataclass(slots=True, eq=False)
class Region:
    """Values of one storage type that hold the same codes, and who touches them.

    `pins` tell why the codes must keep their type, `outside` whether a graph input or output is among the reasons; `border` holds
    the functions whose borders the region crosses.
    """

    storage: ElementType
    values: set[Key] = field(default_factory=set)
    steps: dict[Place, Lifted] = field(default_factory=dict)
    movers: set[Place] = field(default_factory=set)
    readers: set[Use] = field(default_factory=set)
    constants: set[Key] = field(default_factory=set)
    pins: list[str] = field(default_factory=list)
    outside: bool = False
    border: set[ScopePath] = field(default_factory=set)

    def carriers(self) -> tuple[ElementType, ...]:
        """Types to try, the storage type first."""
        return (self.storage,) if self.pins else (self.storage, *carriers(self.storage))


class Regions:
    """The regions of a model."""

    def __init__(self, view: View, lifted: Mapping[Place, Lifted], constants: Constants) -> None:
        self._view, self._lifted, self._constants = view, lifted, constants
        self.all: list[Region] = []
        self._seen: set[Key] = set()
        for place, step in lifted.items():
            seed = self._seed(place, step)
            if seed is not None and seed not in self._seen and step.storage is not None:
                self._grow(seed, step.storage)

    def _seed(self, place: Place, lifted: Lifted) -> Key | None:
        """The value whose codes a step makes or reads; none for a dequantize that reads a constant directly."""
        node = self._view.node(place)
        if lifted.step.meaning.kind == "quantize":
            return Key(place.scope, node.output[0])
        found = self._view.find(self._view.scopes[place.scope], node.input[lifted.source.order[0]])
        return None if found is None or self._constants.constant(found) is not None else found.key

    def _grow(self, seed: Key, storage: ElementType) -> None:
        region = Region(storage)
        self.all.append(region)
        waiting = [seed]
        while waiting:
            key = waiting.pop()
            if key in region.values:
                continue
            region.values.add(key)
            self._seen.add(key)
            waiting += [*self._origin(key, region), *self._destinations(key, region)]

    def _origin(self, key: Key, region: Region) -> Iterator[Key]:
        scope = self._view.scopes[key.scope]
        found = self._view.find(scope, key.name)
        assert found is not None
        if found.kind == "initializer" or (found.kind == "node" and self._constants.constant(found) is not None):
            region.constants.add(key)
        elif found.kind == "input":
            yield from self._input(scope, found, region)
        else:
            yield from self._producer(Place(key.scope, found.index), found.slot, region)

    def _producer(self, place: Place, slot: int, region: Region) -> Iterator[Key]:
        node = self._view.node(place)
        if place in self._lifted:
            region.steps[place] = self._lifted[place]
            return
        linked = list(links_back(self._view, place, node, slot))
        if not linked:
            region.pins.append(f"{label(node)} makes its codes")
        region.movers |= {place} if linked else set()
        for scope, name in linked:
            yield from self._key(scope, name)

    def _input(self, scope: Scope, found: Definition, region: Region) -> Iterator[Key]:
        owner = owner_of(scope)
        linked = [] if owner is None else list(links_out_of_body(owner, scope, found.index))
        if owner is None or not linked:
            self._pin_border(scope, f"input {found.key.name}", region)
            return
        region.movers.add(owner[0])
        for outer, name in linked:
            yield from self._key(outer, name)

    def _destinations(self, key: Key, region: Region) -> Iterator[Key]:
        constant = key in region.constants
        for use in self._view.uses.get(key, ()):
            if not constant or self._moves(use):
                yield from self._use(use, region)
        for path in self._view.results.get(key, ()):
            if not constant or self._view.scopes[path].parent is not None:
                yield from self._result(self._view.scopes[path], key, region)

    def _moves(self, use: Use) -> bool:
        """The reader only moves elements; other readers of a constant keep reading it as it is."""
        return use.place not in self._lifted and any(True for _ in links_forward(self._view, use, self._view.node(use.place)))

    def _use(self, use: Use, region: Region) -> Iterator[Key]:
        node = self._view.node(use.place)
        if use.place in self._lifted:
            lifted = self._lifted[use.place]
            if use.slot == lifted.source.order[0] and lifted.step.meaning.kind == "dequantize":
                region.steps[use.place] = self._lifted[use.place]
            else:
                region.pins.append(f"{label(node)} reads them as a parameter")
            return
        if node.op_type in READERS and not domain(node.domain):
            region.readers.add(use)
            return
        linked = list(links_forward(self._view, use, node))
        if not linked:
            region.pins.append(f"{label(node)} computes with its codes")
            if self._view.function_of(node) is not None:
                region.border.add(("function", domain(node.domain), node.op_type, node.overload))
        region.movers |= {use.place} if linked else set()
        for scope, name in linked:
            yield from self._key(scope, name)

    def _result(self, scope: Scope, key: Key, region: Region) -> Iterator[Key]:
        owner = owner_of(scope)
        if owner is None:
            self._pin_border(scope, f"output {key.name}", region)
            return
        region.movers.add(owner[0])
        for position, name in enumerate(scope.outputs):
            if name == key.name:
                for outer, linked in links_from_result(owner, scope, position):
                    yield from self._key(outer, linked)

    def _pin_border(self, scope: Scope, port: str, region: Region) -> None:
        region.pins.append(f"{'function' if scope.is_function else 'graph'} {port}")
        if scope.is_function:
            region.border.add(scope.path)
        else:
            region.outside = True

    def _key(self, scope: Scope, name: str) -> Iterator[Key]:
        found = self._view.find(scope, name)
        if found is not None:
            yield found.key
