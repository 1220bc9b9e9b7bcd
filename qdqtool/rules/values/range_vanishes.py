"""All values that codes can stand for are too small for the type of the values.

**Why it matters**: a float32 scale of 1e-9 with a float16 output: every result is 0, or one of a few subnormal numbers.

**Bad**: ``output_dtype = float16``, int8, ``scale = 1e-9``

**Good**: the same with ``output_dtype = float32``

**Fix**: values of a type with a wider range; or calibrate again if the tensor was never reached.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.kernels.scales import NORMAL
from qdqtool.linting.ranges import reach
from qdqtool.linting.subject import Subject

CODE = "QDQ206"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for scale in subject.scales:
        place = scale.places[0]
        expressed = subject.steps[place].step.meaning.expressed
        found = reach(subject, scale, place)
        if found is not None and expressed in NORMAL and 0 < found[1] < NORMAL[expressed]:
            least = f"the normal numbers of {expressed} ({NORMAL[expressed]:.3g})"
            message = f"scale '{scale.name}' lets codes reach {found[1]:.4g}, below {least}"
            yield subject.problem(place, message, "values in float32, or calibrate again", about=scale.name)
