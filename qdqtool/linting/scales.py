"""The constant scales of a model, each summed up once however many steps share it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from qdqtool.expressions import Const, is_const
from qdqtool.kernels.scales import Scales, Spot
from qdqtool.model.graph import Place

if TYPE_CHECKING:
    from qdqtool.linting.subject import Subject


@dataclass(frozen=True, slots=True)
class Scale:
    """A constant scale, what the first step that reads it calls it, those steps (quantizes first), and what it holds."""

    const: Const
    name: str
    places: tuple[Place, ...]
    held: Scales
    quantizes: bool

    def told(self, spot: Spot, what: str) -> str:
        """``2 of 8 scales in 's' are 0, first at [3]``."""
        if self.held.count == 1:
            return f"scale '{self.name}' is {what}"
        at = list(map(int, np.unravel_index(spot.first, self.const.shape)))
        verb = "is" if spot.number == 1 else "are"
        return f"{spot.number} of {self.held.count} scales in '{self.name}' {verb} {what}, first at {at}"

    def shared(self) -> str:
        """Who else reads it, for the end of a message."""
        return f" ({len(self.places)} nodes read it)" if len(self.places) > 1 else ""


def scales_of(subject: Subject) -> list[Scale]:
    """Every constant scale that has elements."""
    return list(_scales(subject))


def _scales(subject: Subject) -> Iterator[Scale]:
    readers: dict[Const, list[Place]] = {}
    for place, lifted in subject.steps.items():
        scale = lifted.step.scale
        if is_const(scale) and 0 not in scale.shape:
            readers.setdefault(scale, []).append(place)
    for const, places in readers.items():
        quantizing = [p for p in places if subject.steps[p].step.meaning.kind == "quantize"]
        first = (quantizing or places)[0]
        ordered = (first, *(p for p in places if p != first))
        yield Scale(const, operand_name(subject, first, 1), ordered, subject.facts.ask("scales", const), bool(quantizing))


def operand_name(subject: Subject, place: Place, role: int) -> str:
    """What a step calls its data (0), scale (1) or zero point (2)."""
    names, slot = subject.node(place).input, subject.steps[place].source.order[role]
    return str(names[slot]) if slot < len(names) else ""
