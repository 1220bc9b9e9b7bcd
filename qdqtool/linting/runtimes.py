"""What rules of the 4xx share: which rows of the profile in force they read, what a row is about, and how a problem is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from qdqtool.capabilities import Row
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Const, Expr, is_const
from qdqtool.findings import Fix, Problem
from qdqtool.kernels.sources import tiles
from qdqtool.model.graph import Place
from qdqtool.plan import roles
from qdqtool.plan.lift import Lifted
from qdqtool.targets import demands
from qdqtool.targets.cautions import Caution

if TYPE_CHECKING:
    from qdqtool.linting.subject import Subject


def told(subject: Subject, module: str) -> tuple[Caution, ...]:
    """The rows that the rule of this module reads."""
    if subject.profile is None:
        return ()
    return subject.profile.cautions.of(module.rpartition(".")[2].replace("_", "-"))


def said(
    subject: Subject, caution: Caution | None, place: Place | None, what: str, about: str = "", hint: str = "", fix: Fix | None = None
) -> Problem:
    """``ort@1.32: what; text of the row``."""
    text = f"{subject.profile}: {what}"
    if caution is None:
        return subject.problem(place, text, hint, about=about, fix=fix)
    text += f"; {caution.text}" if caution.text else ""
    return subject.problem(place, text, caution.hint or hint, about=about, severity=caution.severity, fix=fix)


def first_for(cautions: Sequence[Caution], lifted: Lifted) -> Caution | None:
    """The row that says most about a step: one that names its kind, else one that names none."""
    fitting = [c for c in cautions if not c.storage and c.kind in (None, lifted.step.meaning.kind)]
    return max(fitting, key=lambda c: c.kind is not None, default=None)


def steps(subject: Subject, caution: Caution) -> Iterator[tuple[Place, Lifted]]:
    """The quantize and dequantize nodes that a row is about."""
    for place, lifted in subject.steps.items():
        if demands.about(caution, lifted.step.meaning) and (not caution.role or role(subject, lifted) == caution.role):
            yield place, lifted


def role(subject: Subject, lifted: Lifted) -> str:
    """``weight`` for a step on what first operands lead back to a constant, else ``activation``."""
    return roles.role(subject.view, subject.constants, lifted)


def at_hand(subject: Subject, lifted: Lifted) -> list[Row]:
    """The profile's rows of a step's operator version; of an opset beyond the profile, of the newest version it has."""
    assert subject.profile is not None
    row = lifted.source
    mine = [r for r in subject.profile.rows or () if (r.dialect, r.kind) == (row.dialect, row.kind) and r.version <= row.version]
    newest = max((r.version for r in mine), default=0)
    beyond = row.dialect == "ai.onnx" and row.version > subject.profile.opsets[1]
    return [r for r in mine if r.version == newest and (beyond or newest == row.version)]


def operand(subject: Subject, lifted: Lifted, number: int) -> str:
    """Name of x (0), scale (1) or zero point (2) in the node."""
    node, slot = subject.node(lifted.place), lifted.source.order[number]
    return node.input[slot] if slot < len(node.input) else ""


def dims(shape: Sequence[int | None] | None) -> str:
    """``[8, ?]``."""
    return "[" + ", ".join("?" if d is None else str(d) for d in shape or ()) + "]"


def one_number(subject: Subject, expr: Expr | None) -> float | None:
    """The value of a constant of one element."""
    if not is_const(expr) or prod(expr.shape) != 1:
        return None
    return float(subject.facts.ask("value_range", expr)[0])


def outside(subject: Subject, const: Const, allowed: Sequence[float]) -> tuple[int, float] | None:
    """How many elements are none of `allowed`, and the first of them; None when all are."""
    low, high = subject.facts.ask("value_range", const)
    if low == high and low in allowed:
        return None
    count, first = 0, 0.0
    for tile in tiles(subject.source(const)):
        wide = tile.astype(np.float64)
        bad = ~np.isin(wide, allowed)
        first = float(wide[bad][0]) if bad.any() and not count else first
        count += int(bad.sum())
    return (count, first) if count else None


def listed(types: frozenset[ElementType]) -> str:
    """``int8, uint8``, in the order of their codes."""
    return ", ".join(t.name for t in sorted(types, key=lambda t: t.code))


def number(value: float) -> str:
    """``128`` or ``0.5``."""
    return str(int(value)) if float(value).is_integer() else f"{value:.6g}"
