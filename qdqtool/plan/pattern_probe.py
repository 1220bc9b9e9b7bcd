"""Raised patterns as pairs of small graphs for the check: the nodes that went, and the step that stands for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx import NodeProto

from qdqtool.check.probe import Fragment, Port, Probe
from qdqtool.expressions import Expr, Step, is_const
from qdqtool.kernels.sources import size
from qdqtool.model.graph import Place, domain
from qdqtool.model.structure import order
from qdqtool.plan.build import Builder
from qdqtool.plan.entries import Replace
from qdqtool.plan.fragment import entering, replacement

LARGEST = 1 << 24
"""Most elements of a constant in a probe; a pattern with more is checked by the models alone."""


def pattern_probe(builder: Builder, place: Place, entry: Replace, step: Step) -> Iterator[Probe]:
    """The probe of one raised pattern; none where types are unknown or its constants are large."""
    nodes = [builder.judge.node(p) for p in sorted((*entry.claimed, place), key=lambda p: p.index)]
    nodes = [nodes[i] for i in order(nodes)]
    read = _read(builder, place, nodes)
    inputs = entering(read.values(), builder.constants, builder.view.scopes[place.scope])
    constants = {name: builder.facts.source(e) for name, e in read.items() if is_const(e)}
    if len(inputs) + len(constants) != len(read) or step.dtype is None or any(size(s) > LARGEST for s in constants.values()):
        return
    last = builder.view.node(place)
    output = Port(last.output[0], step.dtype, step.shape)
    imports = builder.view.scopes[place.scope].imports
    used = {n.domain: imports.get(n.domain, 1) for n in nodes if domain(n.domain)}
    before = Fragment(tuple(nodes), {"": imports.get("", 1), **used}, inputs, (output,), constants)
    after = replacement(builder.facts, builder.target.opset, last, entry.outputs[0][1], inputs, output)
    in_model = tuple(p.name for p in inputs), "" if place.scope else last.output[0]
    yield Probe(builder.view.title(place), entry.exactness, entry.bound or None, before, after, *in_model)


def _read(builder: Builder, place: Place, nodes: Sequence[NodeProto]) -> dict[str, Expr]:
    """What the nodes read from outside."""
    own = {o for node in nodes for o in node.output}
    scope = builder.view.scopes[place.scope]
    names = dict.fromkeys(i for node in nodes for i in node.input if i and i not in own)
    return {name: builder.constants.expression(scope, name) for name in names}
