"""What of a planned model a runtime will not run, in words: operators without kernel, unknown types, faults of its optimizations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx import AttributeProto, NodeProto

from qdqtool.dtypes import ElementType
from qdqtool.model.graph import MAIN, Key, Place, Scope, domain
from qdqtool.plan.lift import is_step
from qdqtool.targets.profile import Profile, foreign_gap

if TYPE_CHECKING:
    from qdqtool.plan.build import Builder

PAIRED = {"MatMulInteger": (0, 1), "ConvInteger": (0, 1), "QLinearMatMul": (0, 3), "QLinearConv": (0, 3)}
"""Operators on two quantized operands, whose kernels are for pairs of types, with the places of these."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A value or node of the result that will not load or run; not `sure` where turning optimizations off, or a library, helps."""

    at: str
    reason: str
    sure: bool = True


def failing(builder: Builder, profile: Profile) -> Iterator[Lost]:
    """Values and nodes of the result that will not load or run."""
    for value in (*builder.view.proto.graph.input, *builder.view.proto.graph.output):
        dtype = builder.types.of(Key(MAIN, value.name)).dtype
        if dtype is not None and profile.types is not None and dtype not in profile.types:
            yield Lost(f"graph input or output {value.name}", f"{profile} does not know {dtype}")
    plan = builder.plan
    for place, scope, node in builder.view.places():
        if place in plan.dead or place in plan.replaces or is_step(node) or builder.view.function_of(node) is not None:
            continue
        for written in plan.adapts[place].nodes if place in plan.adapts else (node,):
            if reason := _lost(builder, profile, scope, written):
                yield Lost(builder.view.title(place), reason)
            elif reason := _fault(builder, profile, place, written):
                yield Lost(builder.view.title(place), reason, sure=False)


def _lost(builder: Builder, profile: Profile, scope: Scope, node: NodeProto) -> str:
    if domain(node.domain):
        numbers = {a.name: a.i for a in node.attribute if a.type == AttributeProto.INT}
        return foreign_gap(profile, domain(node.domain), node.op_type, len(node.input), numbers)
    types = [_type(builder, scope, name) for name in node.input]
    pair = [str(types[i]) for i in PAIRED.get(node.op_type, ()) if i < len(types)]
    return builder.target.lacks(node.op_type, [":".join(pair)])


def _type(builder: Builder, scope: Scope, name: str) -> ElementType | None:
    found = builder.view.find(scope, name) if name else None
    return None if found is None else builder.judge.carriers.get(found.key) or builder.types.of(found.key).dtype


def _fault(builder: Builder, profile: Profile, place: Place, node: NodeProto) -> str:
    """The runtime breaks the node when it optimizes, for what feeds it (see ``Profile.behind``), or needs help to know it."""
    own = domain(node.domain)
    if own:
        foreign = profile.contrib and own not in profile.contrib and own not in profile.imports
        return f"{profile} has no {own} {node.op_type} of its own; it needs a library of custom operators" if foreign else ""
    for name in node.input:
        storage = _fed_by(builder, place, name)
        since, operators = profile.behind.get(storage, (0, frozenset[str]())) if storage else (0, frozenset[str]())
        if node.op_type in operators and builder.target.opset >= since:
            return f"{profile} breaks {node.op_type} behind {storage} DequantizeLinear of opset {since} on unless its optimizations are off"
    return ""


def _fed_by(builder: Builder, place: Place, name: str) -> ElementType | None:
    """The storage type of a computed value that a DequantizeLinear of the default domain, which stays one, gives as `name`."""
    view = builder.view
    found = view.find(view.scopes[place.scope], name) if name else None
    above = Place(found.key.scope, found.index) if found is not None and found.kind == "node" else None
    lifted = builder.lifted.get(above) if above is not None else None
    if above is None or lifted is None or lifted.source.dialect != "ai.onnx" or lifted.step.meaning.kind != "dequantize":
        return None
    entry = builder.plan.replaces.get(above)
    codes = view.find(view.scopes[above.scope], view.node(above).input[0])
    return lifted.storage if entry is None and codes is not None and codes.kind == "node" else None
