"""A quantize step has codes for a small part of the numbers that its input may hold.

**Why it matters**: what is larger is cut off. Sigmoid gives 0 to 1; a scale made for 0 to 0.00001 comes from calibration data on which
nothing was ever found (random pictures before a detector's scores), and turns every true result into the largest code. The scale 1.19e-7
is what torch's observers write when they saw nothing at all. Reported where codes cover less than 1/64 of what the operator before gives,
or less than 0.000001 to either side.

**Bad**: ``QuantizeLinear(Sigmoid(x), 4e-8, zero_point=-128)``

**Good**: ``QuantizeLinear(Sigmoid(x), 1/256, zero_point=-128)``

**Fix**: calibrate with real inputs; outputs of Sigmoid, Softmax and Tanh need no calibration.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.expressions import is_const
from qdqtool.findings import Problem
from qdqtool.linting.ranges import Interval, given, of_step
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place

CODE = "QDQ217"
SEVERITY = "warning"
STAGE = "graph"

PLACEHOLDER = 2.0**-23
"""What torch's observers write for a tensor they never saw."""

LEAST_SHARE = 1 / 64
LEAST_REACH = 1e-6


def check(subject: Subject) -> Iterator[Problem]:
    for place, lifted in subject.steps.items():
        if lifted.step.meaning.kind == "quantize" and not is_const(lifted.step.x):
            message = _message(subject, place)
            if message:
                about = subject.node(place).input[lifted.source.order[1]]
                yield subject.problem(place, message, "calibrate with inputs that reach this tensor", about=about)


def _message(subject: Subject, place: Place) -> str:
    lifted, made = subject.steps[place], given(subject, subject.makers[place])
    bounded = made is not None and made[1] - made[0] < float("inf")
    if not bounded and not (is_const(lifted.step.scale) and subject.facts.ask("scales", lifted.step.scale).least <= PLACEHOLDER):
        return ""
    found = of_step(subject, place)
    return "" if found is None else _told(subject, place, found, made if bounded else None)


def _told(subject: Subject, place: Place, found: Interval, made: Interval | None) -> str:
    (low, high), maker, scale = found, subject.makers[place], subject.steps[place].step.scale
    codes = f"codes stand for {low:.4g} to {high:.4g}"
    if maker is not None and made is not None:
        covered = min(high, made[1]) - max(low, made[0])
        if 0 < covered < LEAST_SHARE * (made[1] - made[0]):
            return f"{codes}, but {subject.node(maker).op_type} gives {made[0]:.4g} to {made[1]:.4g}"
    if is_const(scale) and subject.facts.ask("scales", scale).least == PLACEHOLDER:
        return f"{codes}: the scale is the placeholder of an observer that saw no data"
    return f"{codes}: the tensor was all but 0 in calibration" if max(-low, high) < LEAST_REACH else ""
