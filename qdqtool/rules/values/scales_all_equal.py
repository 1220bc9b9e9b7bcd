"""Scales of a finer granularity than they use.

**Why it matters**: scales for each channel or block that are all equal say no more than one, cost space and time, and keep the step off
runtimes that want one scale (or one per channel). A quantizer that was asked for channels and did not deliver leaves such a trace.

**Bad**: ``scale = [0.01, 0.01, 0.01, 0.01]``, blocks of 32 whose scales are equal along the axis

**Good**: ``scale = 0.01``; one scale for each channel

**Fix**: ``qdqtool fold --collapse`` stores the coarser form; or look why the quantizer made them equal.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.expressions import Expr, is_const
from qdqtool.findings import Problem
from qdqtool.linting.scales import Scale
from qdqtool.linting.subject import Subject
from qdqtool.quantization import Blocked, PerAxis

CODE = "QDQ210"
SEVERITY = "info"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    biases = {layer.bias.step for layer in subject.layers if layer.bias is not None}
    for scale in subject.scales:
        if scale.held.count > 1 and scale.places[0] not in biases:
            where, coarser = subject.steps[scale.places[0]].step.meaning.granularity, _coarser(subject, scale)
            if coarser and isinstance(where, PerAxis | Blocked):
                each = f"block of {where.block}" if isinstance(where, Blocked) else "index"
                message = f"all {scale.held.count} scales in '{scale.name}' {coarser}, one for each {each} along axis {where.axis}"
                yield subject.problem(scale.places[0], message, "one would do: qdqtool fold --collapse", about=scale.name)


def _coarser(subject: Subject, scale: Scale) -> str:
    """What they share; empty where scales or zero points differ."""
    step = subject.steps[scale.places[0]].step
    where, held = step.meaning.granularity, scale.held
    if held.negative or held.zero or held.special or not isinstance(where, PerAxis | Blocked):
        return ""
    if held.least == held.greatest and _one(subject, step.zero_point):
        return f"are {held.least:.4g}"
    if isinstance(where, Blocked) and where.axis < len(scale.const.shape) and scale.const.shape[where.axis] > 1:
        same = all(e is None or (is_const(e) and subject.facts.ask("equal_along", e, where.axis)) for e in (scale.const, step.zero_point))
        return f"are equal along axis {where.axis}" if same else ""
    return ""


def _one(subject: Subject, zero: Expr | None) -> bool:
    """No zero point, or one value."""
    if zero is None:
        return True
    low, high = subject.facts.ask("value_range", zero) if is_const(zero) else (0.0, 1.0)
    return bool(low == high)
