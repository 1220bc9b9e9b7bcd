"""A zero point at the end of its type leaves no code for numbers that do occur.

**Why it matters**: with zero point 0 a uint8 holds nothing below 0, so a quantize step after LeakyRelu or Tanh turns every negative
result into 0; with zero point 255 it holds nothing above 0, and after Relu or Sigmoid all that is left is one code.

**Bad**: ``QuantizeLinear(LeakyRelu(x), 0.02, zero_point=0)``, uint8

**Good**: ``QuantizeLinear(LeakyRelu(x), 0.02, zero_point=26)``

**Fix**: calibrate on the tensor that is quantized, not on the one before the activation function.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.ranges import SIGNED, given, of_step
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place

CODE = "QDQ207"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for place, lifted in subject.steps.items():
        if lifted.step.meaning.kind == "quantize":
            lost = _lost(subject, place)
            if lost:
                message, hint = f"codes stand for {lost}", "calibrate on the tensor that is quantized"
                yield subject.problem(place, message, hint, about=subject.node(place).input[lifted.source.order[0]])


def _lost(subject: Subject, place: Place) -> str:
    maker = subject.makers[place]
    made = given(subject, maker)
    signed = maker is not None and subject.node(maker).op_type in SIGNED and not subject.node(maker).domain
    found = of_step(subject, place) if signed or made is not None else None
    if maker is None or found is None:
        return ""
    low, high = found
    op = subject.node(maker).op_type
    if signed and low >= 0:
        return f"{low:.4g} to {high:.4g}, but {op} also gives negative numbers: all of them become {low:.4g}"
    if made is not None and (high <= made[0] or low >= made[1]):
        end = high if high <= made[0] else low
        return f"{low:.4g} to {high:.4g}, but {op} gives {made[0]:.4g} to {made[1]:.4g}: all results become {end:.4g}"
    return ""
