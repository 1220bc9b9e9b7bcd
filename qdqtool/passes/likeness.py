"""Whether two steps have the same parameters, by what these hold."""

from __future__ import annotations

from qdqtool.expressions import Expr, Step, is_const
from qdqtool.kernels.sources import materialize, size
from qdqtool.plan.facts import Facts

LARGEST = 1 << 20
"""Most elements of two parameters that are compared by content."""


def same_parameters(facts: Facts, a: Step, b: Step) -> bool:
    """Constant scales and zero points of the same bits; no zero point is one of zeros."""
    zeros = a.zero_point, b.zero_point
    return _alike(facts, a.scale, b.scale) and (_alike(facts, *zeros) or all(_nothing(facts, z, a) for z in zeros))


def _nothing(facts: Facts, zero: Expr | None, step: Step) -> bool:
    if zero is None:
        return True
    integer = step.meaning.storage is not None and step.meaning.storage.integer
    return integer and is_const(zero) and bool(facts.ask("value_range", zero) == (0.0, 0.0))


def _alike(facts: Facts, a: Expr | None, b: Expr | None) -> bool:
    if a is None or b is None or not (is_const(a) and is_const(b)):
        return a is b is None
    if a == b:
        return True
    sources = facts.source(a), facts.source(b)
    if a.dtype is not b.dtype or size(sources[0]) != size(sources[1]) or size(sources[0]) > LARGEST:
        return False
    return materialize(sources[0]).tobytes() == materialize(sources[1]).tobytes()
