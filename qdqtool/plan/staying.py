"""Notes on steps that stay in another spelling than the one that was asked for, since that one cannot say them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from qdqtool.capabilities import row_at
from qdqtool.plan.lift import Lifted
from qdqtool.spelling import Operand, write

if TYPE_CHECKING:
    from qdqtool.plan.build import Builder

ABSENT = "it has no such operator"


def notes(builder: Builder) -> Iterator[str]:
    """One for each reason; where only the default domain is asked for, what cannot be said is refused instead."""
    target, plan = builder.target, builder.plan
    if target.dialect is None or target.splits:
        return
    stays: Counter[tuple[str, str]] = Counter()
    for place, lifted in builder.lifted.items():
        if lifted.source.dialect != target.dialect and place not in plan.replaces and place not in plan.respells:
            stays[lifted.source.dialect, _reason(builder, lifted)] += 1
    for (dialect, reason), count in stays.items():
        yield f"{count} step{'s stay' if count > 1 else ' stays'} {dialect}, not {target.dialect}: {reason}"


def _reason(builder: Builder, lifted: Lifted) -> str:
    target, step = builder.target, lifted.step
    assert target.dialect is not None
    imports = builder.view.scopes[lifted.place.scope].imports
    row = row_at(target.dialect, lifted.source.kind, target.versions(imports).get(target.dialect, 1))
    if row is None:
        return ABSENT
    zero = None if step.zero_point is None else Operand(step.zero_point.dtype, step.zero_point.shape)
    found = write(step.meaning, Operand(step.x.dtype, step.x.shape), Operand(step.scale.dtype, step.scale.shape), zero, row)
    return found[0] if isinstance(found, list) else f"{row} cannot be written there"
