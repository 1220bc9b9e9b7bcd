"""Nodes said in other words as pairs of small graphs for the check: the original, and what stands for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from onnx import AttributeProto

from qdqtool.check.probe import Fragment, Port, Probe
from qdqtool.exactness import Exactness
from qdqtool.expressions import Computed, Literal, Stored
from qdqtool.kernels.sources import ArraySource, size
from qdqtool.plan.entries import Adapt
from qdqtool.plan.fragment import entering

if TYPE_CHECKING:
    from qdqtool.plan.build import Builder

LARGEST = 1 << 22
"""Most elements of a constant in a probe; a node with more is checked by the models alone."""


def adapt_probes(builder: Builder, entry: Adapt) -> Iterator[Probe]:
    """A probe for each result that somebody reads; none where types are unknown, or the node holds bodies."""
    scope, node = builder.view.scopes[entry.place.scope], builder.judge.node(entry.place)
    read = {name: builder.constants.expression(scope, name) for name in node.input if name}
    inputs = entering(read.values(), builder.constants, scope)
    constants = {name: builder.facts.source(e) for name, e in read.items() if isinstance(e, Stored | Literal | Computed)}
    if len(inputs) + len(constants) < len(read) or any(size(s) > LARGEST for s in constants.values()):
        return
    if any(a.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS) for n in (node, *entry.nodes) for a in n.attribute):
        return
    new = {name: ArraySource(const.array) for name, const in entry.constants.items()}
    versions = {"": scope.imports.get("", 1)}, {"": builder.target.opset}
    for name in node.output:
        found = builder.view.find(scope, name) if name else None
        known = builder.types.at(scope, name)
        if found is None or known.dtype is None or not (builder.view.uses.get(found.key) or builder.view.results.get(found.key)):
            continue
        output = (Port(name, known.dtype, known.shape),)
        before = Fragment((node,), versions[0], inputs, output, constants)
        after = Fragment(entry.nodes, versions[1], inputs, output, {**constants, **new})
        title, bound = builder.view.title(entry.place), entry.bound or None
        in_model = tuple(p.name for p in inputs), "" if entry.place.scope else name
        ordinary = entry.exactness >= Exactness.ROUNDING
        yield Probe(title, entry.exactness, bound, before, after, *in_model, ordinary=ordinary)
