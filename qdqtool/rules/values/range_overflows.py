"""Codes stand for numbers that the type of the values does not hold: they become infinite, or never occur.

**Why it matters**: float16 ends at 65504. ``600 * 255`` is infinite there, and one infinity in a tensor makes the next MatMul NaN. For a
quantize step, codes beyond the end are never used.

**Bad**: float16, uint8, ``scale = 600``, zero point 0

**Good**: ``scale = 256``

**Fix**: a smaller scale, or values in float32 or bfloat16.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.ranges import reach
from qdqtool.linting.subject import Subject

CODE = "QDQ205"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for scale in subject.scales:
        for place in scale.places[:1]:
            meaning = subject.steps[place].step.meaning
            found, expressed = reach(subject, scale, place), meaning.expressed
            if found is not None and expressed is not None and found[0] > expressed.high:
                effect = "codes beyond never occur" if meaning.kind == "quantize" else "values beyond are infinite"
                message = f"scale '{scale.name}' lets codes reach {found[0]:.4g}, but {expressed} ends at {expressed.high:.6g}: {effect}"
                yield subject.problem(place, message, "a smaller scale, or values in float32", about=scale.name)
