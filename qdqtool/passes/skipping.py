"""Quantize, dequantize, quantize with other parameters as the last quantize alone: near, but not equal, and told by how much."""

from __future__ import annotations

from dataclasses import dataclass, replace

from qdqtool.exactness import Bound
from qdqtool.expressions import Expr, Step, Stored, is_const
from qdqtool.kernels.sources import materialize, size
from qdqtool.model.graph import Place
from qdqtool.passes import pairs
from qdqtool.passes.given import Given
from qdqtool.passes.likeness import same_parameters
from qdqtool.passes.pairs import Numbers
from qdqtool.passes.wishes import stored
from qdqtool.plan.lift import Lifted


@dataclass(frozen=True, slots=True)
class Skipped:
    """The last quantize step, reading what the first one read; by how many steps it can be off, and the nodes passed over."""

    step: Step
    bound: Bound
    nodes: tuple[Place, ...]
    reads: tuple[Stored, ...]


def skipped(given: Given, place: Place, last: Lifted) -> Skipped | None:
    """The quantize step at `place` without those before it; None when there is none that may be left out."""
    own = _numbers(given, last)
    at, x, nodes, passed = place, last.step.x, tuple[Place, ...](), list[Numbers]()
    while own is not None and (pair := _pair(given, at)) is not None:
        first, there = pair
        numbers = _numbers(given, given.lifted[first])
        same_type = given.lifted[first].step.meaning.expressed is last.step.meaning.expressed
        if numbers is None or not same_type or not pairs.covers(numbers, own):
            break
        x, at, nodes = given.lifted[first].step.x, first, (first, there, *nodes)
        passed.append(numbers)
    if own is None or not passed:
        return None
    reads = dict.fromkeys(s for p in (*nodes, place) for s in _reads(given.lifted[p].step))
    return Skipped(replace(last.step, x=x), pairs.off_by(passed, own), nodes, tuple(reads))


def _pair(given: Given, place: Place) -> tuple[Place, Place] | None:
    """The quantize and dequantize step of the same parameters in front of a quantize step."""
    there = _above(given, place)
    first = None if there is None else _above(given, there)
    if there is None or first is None:
        return None
    steps = given.lifted[first].step, given.lifted[there].step
    kinds = [s.meaning.kind for s in steps]
    if kinds != ["quantize", "dequantize"] or not pairs.inverse(steps[1].meaning, steps[0].meaning):
        return None
    return (first, there) if same_parameters(given.facts, steps[1], steps[0]) else None


def _above(given: Given, place: Place) -> Place | None:
    above = given.producer(given.view.scopes[place.scope], given.view.node(place).input[0])
    return above if above in given.lifted else None


def _numbers(given: Given, lifted: Lifted) -> Numbers | None:
    parameters = [p for p in (lifted.step.scale, lifted.step.zero_point) if p is not None]
    sources = [given.facts.source(p) for p in parameters if is_const(p)]
    storage = lifted.storage
    if len(sources) < len(parameters) or any(size(s) != 1 for s in sources) or storage is None or not storage.integer:
        return None
    values = [float(materialize(s).reshape(-1)[0]) for s in sources]
    return Numbers(values[0], values[1] if len(values) > 1 else 0.0, storage)


def _reads(step: Step) -> tuple[Stored, ...]:
    parts: tuple[Expr | None, ...] = (step.x, step.scale, step.zero_point)
    return tuple(s for part in parts if is_const(part) for s in stored(part))
