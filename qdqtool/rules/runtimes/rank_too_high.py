"""A quantized tensor has more dimensions than the runtime takes.

**Why it matters**: the model is refused.

**Bad**: a tensor of 9 dimensions

**Good**: the same, reshaped

**Fix**: a Reshape before and behind.

**Runtimes**: DirectML as documented.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.runtimes import dims, operand, said, steps, told
from qdqtool.linting.subject import Subject

CODE = "QDQ438"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for place, lifted in steps(subject, caution):
            shape = lifted.step.x.shape
            if shape is not None and len(shape) > caution.numbers["rank"][0]:
                name = operand(subject, lifted, 0)
                yield said(subject, caution, place, f"'{name}' {dims(shape)} has {len(shape)} dimensions", name, "reshape it before")
