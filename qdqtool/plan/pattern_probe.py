"""Raised patterns as pairs of small graphs for the check: the nodes that went, and the step that stands for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from onnx import NodeProto

from qdqtool.check.probe import Fragment, Port, Probe
from qdqtool.expressions import Computed, Const, Expr, Literal, Runtime, Step, Stored
from qdqtool.kernels.sources import size
from qdqtool.model.graph import Place, domain
from qdqtool.model.structure import order
from qdqtool.plan.emit import Emitter, Names, constant_name
from qdqtool.plan.entries import Replace

if TYPE_CHECKING:
    from qdqtool.plan.build import Builder

LARGEST = 1 << 24
"""Most elements of a constant in a probe; a pattern with more is checked by the models alone."""


def pattern_probe(builder: Builder, place: Place, entry: Replace, step: Step) -> Iterator[Probe]:
    """The probe of one raised pattern; none where types are unknown or its constants are large."""
    nodes = [builder.judge.node(p) for p in sorted((*entry.claimed, place), key=lambda p: p.index)]
    nodes = [nodes[i] for i in order(nodes)]
    read = _read(builder, place, nodes)
    inputs = [Port(e.name, e.dtype, e.shape) for e in read.values() if isinstance(e, Runtime) and e.dtype is not None]
    constants = {name: builder.facts.source(e) for name, e in read.items() if isinstance(e, Stored | Literal | Computed)}
    if len(inputs) + len(constants) != len(read) or step.dtype is None or any(size(s) > LARGEST for s in constants.values()):
        return
    last = builder.view.node(place)
    output = (Port(last.output[0], step.dtype, step.shape),)
    imports = builder.view.scopes[place.scope].imports
    used = {n.domain: imports.get(n.domain, 1) for n in nodes if domain(n.domain)}
    before = Fragment(tuple(nodes), {"": imports.get("", 1), **used}, tuple(inputs), output, constants)
    after = _after(builder, last, entry.outputs[0][1], tuple(inputs), output)
    in_model = tuple(p.name for p in inputs), "" if place.scope else last.output[0]
    yield Probe(builder.view.title(place), entry.exactness, entry.bound or None, before, after, *in_model)


def _read(builder: Builder, place: Place, nodes: Sequence[NodeProto]) -> dict[str, Expr]:
    """What the nodes read from outside."""
    own = {o for node in nodes for o in node.output}
    scope = builder.view.scopes[place.scope]
    names = dict.fromkeys(i for node in nodes for i in node.input if i and i not in own)
    return {name: builder.constants.expression(scope, name) for name in names}


def _after(builder: Builder, last: NodeProto, expr: Expr, inputs: tuple[Port, ...], output: tuple[Port, ...]) -> Fragment:
    constants: dict[Const, str] = {}
    names = Names([*(p.name for p in inputs), *last.output])

    def name_of(const: Const, value: str) -> str:
        if const not in constants:
            constants[const] = names.fresh(constant_name(const, value))
        return constants[const]

    emitter = Emitter(names, name_of, last)
    emitter.write(expr, last.output[0])
    imports = {"": builder.target.opset, **{n.domain: 1 for n in emitter.nodes if n.domain}}
    sources = {name: builder.facts.source(c) for c, name in constants.items()}
    return Fragment(tuple(emitter.nodes), imports, inputs, output, sources)
