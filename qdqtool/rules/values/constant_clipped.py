"""A float constant is quantized with a range that does not hold it.

**Why it matters**: what lies outside is cut off, and a weight that is cut off by a quarter is another weight. The usual causes are scales
that belong to another tensor, a transposed channel axis, and a range trained with a learned clip (then it is meant).

**Bad**: ``QuantizeLinear([-3.1 ... 2.9], 0.01, 0)`` to int8, whose range is -1.28 to 1.27

**Good**: the same with the scale 0.0245

**Fix**: scale = largest magnitude / 127.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qdqtool.expressions import Expr, is_const
from qdqtool.findings import Problem
from qdqtool.kernels.codes import Codes
from qdqtool.kernels.sources import Array
from qdqtool.linting.scales import operand_name
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place
from qdqtool.quantization import PerAxis, PerTensor

CODE = "QDQ216"
SEVERITY = "warning"
STAGE = "graph"

LEAST = 1.05
"""Let rounding of the scale, and ranges of 255 codes used as 256, pass."""


def check(subject: Subject) -> Iterator[Problem]:
    for place, lifted in subject.steps.items():
        x, meaning = lifted.step.x, lifted.step.meaning
        if meaning.kind == "quantize" and is_const(x) and 0 not in x.shape and isinstance(meaning.granularity, PerAxis | PerTensor):
            message = _message(subject, place)
            if message:
                yield subject.problem(place, message, "scale = largest magnitude / largest code", about=operand_name(subject, place, 0))


def _message(subject: Subject, place: Place) -> str:
    step = subject.steps[place].step
    storage, granularity = step.meaning.storage, step.meaning.granularity
    axis = granularity.axis if isinstance(granularity, PerAxis) else None
    scales, zeros = _values(subject, step.scale), np.zeros(1) if step.zero_point is None else _values(subject, step.zero_point)
    if storage is None or scales is None or zeros is None or not is_const(step.x) or (axis is not None and axis >= len(step.x.shape)):
        return ""
    held = subject.facts.ask("codes", step.x, axis)
    if {scales.size, zeros.size} - {1, held.lows.size} or not (np.isfinite(scales) & (scales != 0)).all():
        return ""
    zeros = zeros if storage.integer else np.zeros(1)
    ends = (storage.low - zeros) * scales, (storage.high - zeros) * scales
    low, high = np.minimum(*ends), np.maximum(*ends)
    with np.errstate(divide="ignore", invalid="ignore"):
        over = np.maximum(np.where(held.lows < low, held.lows / low, 0), np.where(held.highs > high, held.highs / high, 0))
    over = np.where((held.lows < low - np.abs(scales)) | (held.highs > high + np.abs(scales)), np.abs(over), 0)
    return _told(operand_name(subject, place, 0), held, over, low, high) if (over > LEAST).any() else ""


def _told(name: str, held: Codes, over: Array, low: Array, high: Array) -> str:
    first, number = int(np.argmax(over)), int((over > LEAST).sum())
    reaches = f"{held.lows[first]:.4g} to {held.highs[first]:.4g}"
    of = f" in {number} of {over.size} channels" if over.size > 1 else ""
    at = np.broadcast_to(low, over.shape)[first], np.broadcast_to(high, over.shape)[first]
    return f"constant '{name}' is cut off{of}: it reaches {reaches}, its codes only {at[0]:.4g} to {at[1]:.4g}"


def _values(subject: Subject, expr: Expr) -> Array | None:
    return subject.facts.ask("numbers", expr) if is_const(expr) else None
