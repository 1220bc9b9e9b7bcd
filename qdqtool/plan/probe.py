"""Rewritten steps as pairs of small graphs for the check: the original node and what stands for it, over the same inputs.

Large constants are cut down first, and the cut step is legalized like the whole one: slices along untouched axes, and along
the quantized axis whole blocks with the ragged last one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from onnx import NodeProto

from qdqtool.check.probe import Fragment, Port, Probe
from qdqtool.exactness import Exactness
from qdqtool.expressions import Computed, Const, Expr, Runtime, Step, is_const
from qdqtool.model.graph import Place
from qdqtool.opsets.edits import AttributeEdit, carry_out
from qdqtool.plan.adapt_probe import adapt_probes
from qdqtool.plan.build import Builder
from qdqtool.plan.choices import Choice
from qdqtool.plan.entries import Replace, Respell
from qdqtool.plan.facts import Facts
from qdqtool.plan.forms import fill
from qdqtool.plan.fragment import replacement
from qdqtool.plan.fused_probe import fused_probe
from qdqtool.plan.lift import Lifted
from qdqtool.plan.pattern_probe import pattern_probe
from qdqtool.plan.recentring import moved, unmoved
from qdqtool.quantization import Blocked, PerAxis

LIMIT = 1 << 18
"""Elements of a constant that a probe holds."""


def probes(builder: Builder) -> Iterator[Probe]:
    """One probe for each replaced step whose operand types are known."""
    for place, entry in builder.plan.replaces.items():
        if entry.step is not None and entry.before is not None:
            yield from pattern_probe(builder, place, entry, entry.step)
        elif entry.before is not None:
            yield from fused_probe(builder, place, entry)
        elif entry.step is not None:
            yield from _probe(builder, place, entry, entry.step)
        else:
            yield from _results(builder, place, entry)
    for place, respell in builder.plan.respells.items():
        yield from _respelled(builder, place, respell)
    for adapt in builder.plan.adapts.values():
        yield from adapt_probes(builder, adapt)


def _probe(builder: Builder, place: Place, entry: Replace, step: Step) -> Iterator[Probe]:
    lifted = builder.lifted[place]
    if step.meaning.storage is not lifted.step.meaning.storage:
        yield from _recentred(builder, place, entry, step)
        return
    small, coverage = cut(step)
    found = builder.chooser(place.scope).follow(small, entry.how, builder.hearing.part(place))
    if not isinstance(found, Choice) or small.dtype is None or lifted.step.dtype is None:
        return
    original = replace(lifted.step, x=_like(small.x, lifted.step.x), scale=small.scale, zero_point=small.zero_point, shape=small.shape)
    values = [e for e in (original.x, original.scale, original.zero_point) if isinstance(e, Runtime)]
    if any(v.dtype is None for v in values):
        return
    node = builder.judge.node(place)
    yield Probe(
        builder.view.title(place),
        entry.exactness,
        entry.bound or None,
        _before(node, builder, place, original),
        _after(node, builder, small, found),
        tuple(v.name for v in values),
        node.output[0] if not place.scope else "",
        coverage,
    )


def _recentred(builder: Builder, place: Place, entry: Replace, step: Step) -> Iterator[Probe]:
    """Signed codes moved back to what the original has; in the model they are others, so nothing is replayed."""
    lifted, node = builder.lifted[place], builder.judge.node(place)
    before, ((_, expr),) = lifted.step, entry.outputs
    storage, signed = before.meaning.storage, step.meaning.storage
    values = [e for e in (before.x, before.scale, before.zero_point) if isinstance(e, Runtime)]
    if storage is None or signed is None or before.dtype is None or any(v.dtype is None for v in values):
        return
    after = unmoved(expr, storage) if before.meaning.kind == "quantize" else fill(expr, {step.x: moved(before.x, signed)})
    inputs = _distinct([Port(v.name, v.dtype, v.shape) for v in values if v.dtype is not None])
    output = Port(node.output[0], before.dtype, before.shape)
    made = replacement(builder.facts, builder.target.opset, node, after, inputs, output)
    yield Probe(builder.view.title(place), entry.exactness, entry.bound or None, _before(node, builder, place, before), made)


def _results(builder: Builder, place: Place, entry: Replace) -> Iterator[Probe]:
    """One probe for each result of a node that is no single step."""
    node, scope = builder.judge.node(place), builder.view.scopes[place.scope]
    values = [builder.constants.expression(scope, name) for name in node.input]
    inputs = tuple(Port(v.name, v.dtype, v.shape) for v in values if isinstance(v, Runtime) and v.dtype is not None)
    if len(inputs) < len(values):
        return
    for output, expr in entry.outputs:
        known = builder.types.at(scope, output)
        if known.dtype is not None:
            port = Port(output, known.dtype, known.shape)
            before = Fragment((node,), {"": scope.imports.get("", 1)}, inputs, (port,), {})
            after = replacement(builder.facts, builder.target.opset, node, expr, inputs, port)
            names = tuple(p.name for p in inputs)
            title = f"{builder.view.title(place)}.{output}"
            yield Probe(title, entry.exactness, entry.bound or None, before, after, names, "" if place.scope else output)


def _respelled(builder: Builder, place: Place, entry: Respell) -> Iterator[Probe]:
    step, coverage = cut(entry.step)
    values = [e for e in (step.x, step.scale, step.zero_point) if isinstance(e, Runtime)]
    if any(v.dtype is None for v in values) or step.dtype is None:
        return
    before = _before(builder.judge.node(place), builder, place, step)
    node = NodeProto()
    node.CopyFrom(before.nodes[0])
    carry_out(node, (AttributeEdit(name, value) for name, value in entry.attributes))
    after = replace(before, nodes=(node,), imports={**before.imports, "": builder.target.opset})
    names = tuple(v.name for v in values)
    yield Probe(
        builder.view.title(place), Exactness.BIT_EQUAL, None, before, after, names, node.output[0] if not place.scope else "", coverage
    )


def _like(x: Expr, original: Expr) -> Expr:
    return replace(x, dtype=original.dtype) if isinstance(x, Runtime) else x


def original_step(node: NodeProto, lifted: Lifted, step: Step, opset: int, facts: Facts) -> Fragment:
    """The node of a lifted step on the operands of `step`, which may have been cut."""
    copy = NodeProto()
    copy.CopyFrom(node)
    constants: dict[str, Const] = {}
    inputs: list[Port] = []
    for slot, operand in zip(lifted.source.order, (step.x, step.scale, step.zero_point), strict=True):
        if isinstance(operand, Runtime):
            assert operand.dtype is not None
            inputs.append(Port(operand.name, operand.dtype, operand.shape))
        elif is_const(operand):
            copy.input[slot] = f"operand_{slot}"
            constants[copy.input[slot]] = operand
    assert step.dtype is not None
    imports = {"": opset, **({node.domain: 1} if node.domain else {})}
    sources = {name: facts.source(c) for name, c in constants.items()}
    return Fragment((copy,), imports, _distinct(inputs), (Port(node.output[0], step.dtype, step.shape),), sources)


def _before(node: NodeProto, builder: Builder, place: Place, step: Step) -> Fragment:
    return original_step(node, builder.lifted[place], step, builder.view.scopes[place.scope].imports.get("", 1), builder.facts)


def _after(node: NodeProto, builder: Builder, step: Step, found: Choice) -> Fragment:
    values = [e for e in (step.x, step.scale, step.zero_point) if isinstance(e, Runtime)]
    inputs = _distinct([Port(v.name, v.dtype, v.shape) for v in values if v.dtype is not None])
    assert step.dtype is not None
    return replacement(builder.facts, builder.target.opset, node, found.expr, inputs, Port(node.output[0], step.dtype, step.shape))


def _distinct(ports: list[Port]) -> tuple[Port, ...]:
    return tuple({p.name: p for p in ports}.values())


def cut(step: Step) -> tuple[Step, str]:
    """The step with its constant codes cut to about `LIMIT` elements, and what was kept in words."""
    whole = step.x
    if not is_const(whole) or prod(whole.shape) <= LIMIT:
        return step, ""
    for axis in range(len(whole.shape)):
        have = prod(step.x.shape or ())  # type: ignore[arg-type]
        if have > LIMIT and all(is_const(e) for e in (step.scale, step.zero_point) if e is not None):
            step = _cut_axis(step, axis, have)
    kept = prod(step.x.shape or ())  # type: ignore[arg-type]
    return step, f"{kept} of {prod(whole.shape)} elements: {list(step.x.shape or ())} of {list(whole.shape)}"


def _cut_axis(step: Step, axis: int, have: int) -> Step:
    assert is_const(step.x)
    length = step.x.shape[axis]
    unit = step.meaning.granularity.block if isinstance(step.meaning.granularity, Blocked) and step.meaning.granularity.axis == axis else 1
    keep = max(2, LIMIT * length // have // unit) * unit
    if keep >= length:
        return step
    last = length - (length % unit or unit)
    pieces = ((0, keep - unit), (last, length))
    shape = tuple(keep - unit + length - last if d == axis else n for d, n in enumerate(step.x.shape))
    scale = _cut_parameter(step.scale, step, axis, pieces, unit)
    zero = None if step.zero_point is None else _cut_parameter(step.zero_point, step, axis, pieces, unit)
    return replace(step, x=_window(step.x, axis, pieces), scale=scale, zero_point=zero, shape=shape)


def _cut_parameter(parameter: Expr, step: Step, axis: int, pieces: tuple[tuple[int, int], ...], unit: int) -> Expr:
    assert is_const(parameter)
    where = step.meaning.granularity
    if isinstance(where, Blocked):
        return _window(parameter, axis, tuple((a // unit, -(-b // unit)) for a, b in pieces))
    if isinstance(where, PerAxis) and where.axis == axis and len(parameter.shape) == 1 and parameter.shape != (1,):
        return _window(parameter, 0, pieces)
    return parameter


def _window(const: Const, axis: int, pieces: tuple[tuple[int, int], ...]) -> Computed:
    shape = tuple(sum(b - a for a, b in pieces) if d == axis else n for d, n in enumerate(const.shape))
    return Computed("window", (const,), (axis, pieces), const.dtype, shape)
