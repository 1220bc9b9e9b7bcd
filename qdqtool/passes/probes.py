"""Folds as pairs of small graphs for the check: the nodes that went, and the constant or node that stands for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from onnx import NodeProto

from qdqtool.check import Fragment, Port, Probe
from qdqtool.expressions import Expr, Runtime, elements, is_const
from qdqtool.model.graph import Place, domain
from qdqtool.passes.fold import Folds
from qdqtool.passes.given import Given
from qdqtool.passes.results import result
from qdqtool.passes.wishes import Found
from qdqtool.plan.fragment import entering, replacement
from qdqtool.plan.probe import cut, original_step
from qdqtool.plan.types import resolved

LARGEST = 1 << 22
"""Most elements of a constant in a probe; of a single step a part is cut out, other folds with more are checked by the models alone."""


def probes(folds: Folds) -> Iterator[Probe]:
    """One probe for each fold whose operand types are known, and whose constants are not too large."""
    order = {place: number for number, place in enumerate(folds.given.places)}
    for found in folds.folds:
        alone = found.nodes == (found.place,) and found.step is None and is_const(found.by)
        probe = _single(folds.given, found) if alone and found.place in folds.given.lifted else _several(folds, found, order)
        if probe is not None:
            yield probe


def _single(given: Given, found: Found) -> Probe | None:
    """A step of constants that is a constant now."""
    lifted = given.lifted[found.place]
    small, coverage = cut(lifted.step)
    const = result(replace(lifted, step=small))
    if const is None:
        return None
    node, opset = _node(given, found.place), _opset(given, found.place)
    before = original_step(node, lifted, small, opset, given.facts)
    after = replacement(given.facts, opset, node, const, (), before.outputs[0])
    return Probe(given.view.title(found.place), found.exactness, None, before, after, (), _in_model(given, found), coverage)


def _several(folds: Folds, found: Found, order: dict[Place, int]) -> Probe | None:
    given, scope = folds.given, folds.given.view.scopes[found.place.scope]
    places = sorted({*found.nodes, found.place}, key=order.__getitem__)
    nodes = tuple(_node(given, place) for place in places)
    read = _read(given, places, nodes)
    inputs = entering(read.values(), given.constants, scope)
    constants = {name: given.facts.source(e) for name, e in read.items() if is_const(e)}
    output = _port(given, found)
    sizes = [prod(s.shape) for s in constants.values()] + [elements(output.shape) if output is not None else 0]
    if output is None or len(inputs) + len(constants) < len(read) or max(sizes) > LARGEST:
        return None
    opset = _opset(given, found.place)
    imports = {"": opset, **{n.domain: scope.imports.get(n.domain, 1) for n in nodes if domain(n.domain)}}
    before = Fragment(nodes, imports, inputs, (output,), constants)
    after = _behind(replacement(given.facts, opset, nodes[-1], folds.said[found.place], inputs, output), found, before)
    names = tuple(port.name for port in inputs)
    return Probe(given.view.title(found.place), found.exactness, found.bound or None, before, after, names, _in_model(given, found))


def _behind(after: Fragment, found: Found, before: Fragment) -> Fragment:
    """What stands for a fold, behind the nodes that it keeps: those up to the one whose result it gives."""
    name = found.by.name if isinstance(found.by, Runtime) else ""
    kept = next((i + 1 for i, node in enumerate(before.nodes) if name and name in node.output), 0)
    nodes, constants = (*before.nodes[:kept], *after.nodes), dict(after.constants)
    constants |= {i: before.constants[i] for node in nodes for i in node.input if i in before.constants and i not in constants}
    return replace(after, nodes=nodes, imports={**before.imports, **after.imports}, constants=constants)


def _read(given: Given, places: list[Place], nodes: tuple[NodeProto, ...]) -> dict[str, Expr]:
    """What the nodes read from outside."""
    own = {name for node in nodes for name in node.output}
    names = {name: place for place, node in zip(places, nodes, strict=True) for name in node.input if name and name not in own}
    return {name: given.constants.expression(given.view.scopes[place.scope], name) for name, place in names.items()}


def _port(given: Given, found: Found) -> Port | None:
    name = given.view.node(found.place).output[0]
    known = given.types.at(given.view.scopes[found.place.scope], name)
    return None if known.dtype is None else Port(name, known.dtype, known.shape)


def _in_model(given: Given, found: Found) -> str:
    return "" if found.place.scope else given.view.node(found.place).output[0]


def _node(given: Given, place: Place) -> NodeProto:
    """A copy, since applying the plan changes what nodes read."""
    root = given.view.scopes[place.scope].root().path
    copy = NodeProto()
    copy.CopyFrom(resolved(given.view.node(place), given.types.bindings.get(root, {})))
    return copy


def _opset(given: Given, place: Place) -> int:
    return given.view.scopes[place.scope].imports.get("", 1)
