"""Fused operators as pairs of small graphs for the check: the operator, cut down, and the steps that stand for it, or the other way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool.check.probe import Port, Probe
from qdqtool.dialects import Fused, Saying, fused_dialects, fused_operators
from qdqtool.exactness import Exactness
from qdqtool.expressions import Expr, Op, Runtime, constants_of, nbytes, walk
from qdqtool.model.graph import Place
from qdqtool.plan.build import Builder
from qdqtool.plan.choices import Choice
from qdqtool.plan.choose import Chooser
from qdqtool.plan.entries import Replace
from qdqtool.plan.fragment import replacement
from qdqtool.plan.fused import Asked
from qdqtool.plan.legalize import Site

LIMIT = 1 << 18
"""Elements of weights that a probe holds."""


def fused_probe(builder: Builder, place: Place, entry: Replace) -> Iterator[Probe]:
    """The probe of a fused operator that was split or made; none where types are unknown, or nobody can judge it."""
    dialect, node = fused_dialects()[entry.how[0]], builder.view.node(place)
    assert entry.before is not None
    small = dialect.narrowed(entry.before, LIMIT)
    before, after = _native(builder, place, small), _said(builder, place, dialect, entry, small)
    values = {e.name: e for e in walk(small) if isinstance(e, Runtime)}
    inputs = tuple(Port(v.name, v.dtype, v.shape) for v in values.values() if v.dtype is not None)
    if before is None or after is None or len(inputs) < len(values) or small.dtype is None or entry.exactness > Exactness.ROUNDING:
        return
    output = Port(node.output[0], small.dtype, None)
    imports = builder.view.scopes[place.scope].imports
    source = replacement(builder.facts, imports.get("", 1), node, before, inputs, output)
    shown = "" if place.scope else output.name
    yield Probe(
        builder.view.title(place),
        entry.exactness,
        entry.bound or None,
        source,
        replacement(builder.facts, builder.target.opset, node, after, inputs, output),
        tuple(values) if shown else (),
        shown,
        _coverage(entry.before, small),
        ordinary=True,
    )


def _native(builder: Builder, place: Place, expr: Expr) -> Expr | None:
    """As the source model says it."""
    imports = builder.view.scopes[place.scope].imports
    source = replace(builder.target, opset=imports.get("", 1), dialect=None, profile=None)
    found = Chooser(Site(source, imports, False), builder.facts).legalize(expr)
    return found.expr if isinstance(found, Choice) and not found.names else None


def _said(builder: Builder, place: Place, dialect: Fused, entry: Replace, expr: Expr) -> Expr | None:
    """In the words of the result, in the way that the entry took."""
    asked = Asked(builder, place)
    split = isinstance(expr, Op) and fused_operators().get((expr.domain, expr.op)) is dialect
    saying = dialect.split(expr, asked) if split and isinstance(expr, Op) else dialect.fuse(expr, asked)
    ways = saying.ways if isinstance(saying, Saying) else ()
    outcomes = (builder.chooser(place.scope).least((way,), dialect.NAME) for way in ways)
    return next((o.expr for o in outcomes if isinstance(o, Choice) and _form(o.expr) == _form(entry.outputs[0][1])), None)


def _form(expr: Expr) -> tuple[object, ...]:
    """What tells one way from another, however large the weights."""
    return (expr.op, [name for name, _ in expr.attributes], type(expr.inputs[0])) if isinstance(expr, Op) else (type(expr),)


def _coverage(whole: Expr, part: Expr) -> str:
    sizes = [sum(nbytes(c) for c in constants_of(each)) for each in (part, whole)]
    return f"{sizes[0]} of {sizes[1]} bytes of its constants" if sizes[0] < sizes[1] else ""
