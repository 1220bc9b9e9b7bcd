"""A scale is NaN or infinite.

**Why it matters**: every result of the step is NaN, infinite or one and the same code, and no runtime says so.

**Bad**: ``scale = [0.02, nan, 0.01]``

**Good**: ``scale = [0.02, 0.013, 0.01]``

**Fix**: calibrate again with data that reaches the tensor, or look for an overflow in float16 scales.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ203"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for scale in subject.scales:
        if scale.held.special:
            what = "NaN or infinite" if scale.held.count > 1 else f"{scale.held.special.value}"
            message = f"{scale.told(scale.held.special, what)}{scale.shared()}"
            yield subject.problem(scale.places[0], message, "calibrate again, or look for an overflow in float16", about=scale.name)
