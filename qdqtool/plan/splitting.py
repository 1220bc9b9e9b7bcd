"""Splitting: fused operators become steps around a plain one where the target asks for ai.onnx, or its runtime has no kernel of them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from onnx import AttributeProto

from qdqtool import capabilities, spelling
from qdqtool.dialects import Fused, Impossible, Saying
from qdqtool.expressions import Expr, Op, Step, walk
from qdqtool.model.graph import Place, domain
from qdqtool.plan.choices import Choice
from qdqtool.plan.entries import Replace
from qdqtool.plan.fused import Asked, fused_nodes, operator
from qdqtool.quantization import Meaning
from qdqtool.spelling import Operand
from qdqtool.targets.profile import foreign_gap

if TYPE_CHECKING:
    from qdqtool.plan.build import Builder


def split_all(builder: Builder) -> None:
    """Plan every fused operator that the target does not want, or cannot run, as steps around a plain one, or refuse it."""
    for place, _, dialect in fused_nodes(builder.view):
        asked = builder.target.splits
        unwanted = asked or builder.view.title(place) in builder.unwanted or _lacking(builder, place)
        if builder.root(place) in builder.types.uncalled or not unwanted:
            continue
        reasons = _split(builder, place, dialect)
        if reasons and (asked or builder.view.title(place) in builder.unwanted):
            builder.refuser.fused(place, reasons)


def _lacking(builder: Builder, place: Place) -> str:
    """Why the target's runtime has no kernel of a fused operator."""
    node, profile = builder.judge.node(place), builder.target.profile
    numbers = {a.name: a.i for a in node.attribute if a.type == AttributeProto.INT}
    return "" if profile is None else foreign_gap(profile, domain(node.domain), node.op_type, len(node.input), numbers)


def _split(builder: Builder, place: Place, dialect: Fused) -> tuple[str, ...]:
    """Why nothing was planned."""
    op = operator(builder, place, dialect)
    saying = op if isinstance(op, Impossible) else dialect.split(op, Asked(builder, place))
    if isinstance(saying, Impossible):
        return saying.reasons
    assert isinstance(op, Op)
    entry = entry_of(builder, place, dialect, op, saying)
    if not isinstance(entry, Replace):
        return entry
    builder.plan.replaces[place] = entry
    return ()


def entry_of(builder: Builder, place: Place, dialect: Fused, before: Expr, saying: Saying) -> Replace | tuple[str, ...]:
    """The least way at the target as an entry of the plan, or why none is left."""
    found = builder.chooser(place.scope).least(saying.ways, dialect.NAME)
    if not isinstance(found, Choice):
        return found.reasons
    outputs = ((builder.view.node(place).output[0], found.expr),)
    return Replace(place, outputs, str(saying.step), found.names, found.exactness, found.bound, before=before, remarks=saying.remarks)


def natural_opset(builder: Builder) -> int:
    """The first opset from the target's on that can say the steps of all fused operators as they are."""
    found = builder.target.opset
    for place, _, dialect in fused_nodes(builder.view):
        op = operator(builder, place, dialect)
        saying = op if isinstance(op, Impossible) else dialect.split(op, Asked(builder, place))
        if isinstance(saying, Saying):
            found = max([found, *(_since(step, found) for step in walk(saying.ways[0].expr) if isinstance(step, Step))])
    return found


def _since(step: Step, least: int) -> int:
    """The first opset that has the step as it is; `least` when none has."""
    x, scale, zero = (None if e is None else Operand(e.dtype, e.shape) for e in (step.x, step.scale, step.zero_point))
    assert x is not None
    assert scale is not None
    return max(least, _first(step.meaning, x, scale, zero) or least)


@cache
def _first(meaning: Meaning, x: Operand, scale: Operand, zero: Operand | None) -> int | None:
    rows = (r for r in capabilities.rows() if r.dialect == "ai.onnx" and r.kind == meaning.kind)
    return min((row.version for row in rows if isinstance(spelling.write(meaning, x, scale, zero, row), dict)), default=None)
