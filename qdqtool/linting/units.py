"""Operators between dequantize and quantize nodes: what runtimes with integer kernels see as one operator on codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qdqtool.model.graph import Place, domain
from qdqtool.plan.lift import Lifted, is_step

if TYPE_CHECKING:
    from qdqtool.linting.subject import Subject


@dataclass(frozen=True, slots=True)
class Unit:
    """A node that reads dequantized values: `inputs` by slot, and the quantize node that alone reads its first result."""

    place: Place
    op: str
    inputs: Mapping[int, Lifted]
    output: Lifted | None


def units_of(subject: Subject) -> dict[Place, Unit]:
    """Every node of the default domain with at least one dequantized operand."""
    reads: dict[Place, dict[int, Lifted]] = {}
    for place, lifted in subject.steps.items():
        if lifted.step.meaning.kind == "dequantize":
            for use in subject.readers(place):
                reads.setdefault(use.place, {})[use.slot] = lifted
    found = {}
    for place, inputs in reads.items():
        node = subject.node(place)
        if not domain(node.domain) and not is_step(node):
            found[place] = Unit(place, node.op_type, inputs, _quantized(subject, place))
    return found


def _quantized(subject: Subject, place: Place) -> Lifted | None:
    if not subject.node(place).output:
        return None
    readers = subject.readers(place)
    lifted = subject.steps.get(readers[0].place) if len(readers) == 1 else None
    return lifted if lifted is not None and lifted.step.meaning.kind == "quantize" else None


def units(subject: Subject, ops: Iterable[str]) -> Iterator[Unit]:
    """Those of these operators."""
    wanted = frozenset(ops)
    return (unit for unit in subject.units.values() if unit.op in wanted)
