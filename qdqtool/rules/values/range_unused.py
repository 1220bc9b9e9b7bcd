"""A quantize step keeps most of its codes for numbers that its input never holds.

**Why it matters**: Softmax gives 0 to 1. A scale made for -16 to 16 leaves 8 of 256 codes for it: 3 bits of precision instead of 8.
Reported where the operator before tells the range, and less than a quarter of the codes lie in it.

**Bad**: ``QuantizeLinear(Softmax(x), 0.125, zero_point=128)``

**Good**: ``QuantizeLinear(Softmax(x), 1/256, zero_point=0)``

**Fix**: calibrate on the tensor that is quantized; outputs of Sigmoid, Softmax, Tanh and Clip need no calibration.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.ranges import given, of_step
from qdqtool.linting.subject import Subject

CODE = "QDQ219"
SEVERITY = "info"
STAGE = "graph"

LEAST = 0.25
"""Share of the codes."""


def check(subject: Subject) -> Iterator[Problem]:
    for place, lifted in subject.steps.items():
        maker = subject.makers[place] if lifted.step.meaning.kind == "quantize" else None
        made = given(subject, maker)
        found = of_step(subject, place) if made is not None else None
        if maker is None or made is None or found is None:
            continue
        (low, high), (least, most) = found, made
        used = (min(high, most) - max(low, least)) / (high - low)
        if 0 < used < LEAST:
            message = f"codes stand for {low:.4g} to {high:.4g}, but {subject.node(maker).op_type} gives {least:.4g} to {most:.4g}"
            yield subject.problem(place, f"{message}: {100 * used:.0f} % of the codes can occur", "a smaller scale")
