"""From values that part to places with a cause: rounding, a known fault of the runtime, or nodes that say different things."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from onnx import NodeProto

from qdqtool.comparing.locating import Parting
from qdqtool.comparing.reasons import Reason, node_reasons, reasons
from qdqtool.comparing.sides import Side
from qdqtool.comparison import ORDER, Cause, Place
from qdqtool.model.graph import label

Faults = Mapping[str, Sequence[str]]

_TIES = "every difference is a tie between two codes, rounded to the other neighbour"
_OTHERWISE = "the nodes say the same; the runtimes compute it differently"


def places(a: Side, b: Side, partings: Iterable[Parting], faults: Faults) -> tuple[Place, ...]:
    """The gravest first, else in the order of the first model; those of one reason are one."""
    found = grouped([_place(a, b, parting, faults) for parting in partings])
    return tuple(sorted(found, key=lambda place: -ORDER.index(place.cause)))


def at(a: Side, b: Side, parting: Parting, cause: Cause, why: Sequence[str]) -> Place:
    """A parting as a place."""
    where, other = _title(a, parting.value), _title(b, parting.other)
    return Place(where, other, parting.value, parting.other, cause, tuple(why), parting.judgement.difference)


def _different(a: Side, b: Side, parting: Parting, said: Sequence[Reason], fault: Sequence[str]) -> Place:
    """At the node that the first reason is about, which may stand before the one that makes the value."""
    place = at(a, b, parting, "different", [*(_told(a, reason, said[0]) for reason in said), *fault])
    if not said:
        return replace(place, reasons=(_OTHERWISE,)) if a is b and not fault else place
    old, new = said[0].old, said[0].new
    return replace(place, where=a.title(old) if old is not None else place.where, other=b.title(new) if new is not None else place.other)


def known(b: Side, nodes: Iterable[NodeProto], faults: Faults) -> list[str]:
    """What is known of these nodes in their runtime."""
    return [message for node in nodes for message in faults.get(b.title(node), ())]


def _place(a: Side, b: Side, parting: Parting, faults: Faults) -> Place:
    said = [] if a is b else reasons(a, parting.before, b, parting.after)
    fault = known(b, parting.after, faults)
    if parting.judgement.level == "rounding" and not (a is not b and _other_constants(a, b, parting)):
        if not parting.judgement.ties:
            return at(a, b, parting, "rounding", ())
        return at(a, b, parting, "known fault" if fault else "rounding", [_TIES, *fault])
    if fault and not said:
        return at(a, b, parting, "known fault", fault)
    return _different(a, b, parting, said, fault)


def _told(a: Side, reason: Reason, first: Reason) -> str:
    """With its node where that is not the one at which the place is."""
    return reason.text if reason.old is None or reason.old is first.old else f"{label(reason.old)}: {reason.text}"


def _other_constants(a: Side, b: Side, parting: Parting) -> bool:
    """The same operators with other constants: too little to see in the values, and no rounding all the same."""
    before, after = parting.before, parting.after
    if [node.op_type for node in before] != [node.op_type for node in after]:
        return False
    return any(node_reasons(a, old, b, new) for old, new in zip(before, after, strict=True))


def _title(side: Side, value: str) -> str:
    node = side.maker(value)
    return f"constant {value}" if node is None else side.title(node)


def grouped(found: Iterable[Place]) -> list[Place]:
    """Places of one reason as one."""
    groups: dict[tuple[object, ...], Place] = {}
    for place in found:
        key = (place.cause, place.reasons) if place.reasons else (place.cause, place.where)
        first = groups.setdefault(key, place)
        if first is not place:
            groups[key] = replace(first, also=(*first.also, place.where))
    return list(groups.values())
