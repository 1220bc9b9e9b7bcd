"""Codes of 4 bits in an odd number, which the runtime cannot pack.

**Why it matters**: two such codes share a byte; a runtime that reads rows by bytes refuses a row that ends in half of one.

**Bad**: ``int4[3, 5]``

**Good**: ``int4[3, 6]``

**Fix**: pad the weight with codes of the zero point, or keep this one in 8 bits.

**Runtimes**: TensorRT by its source: 10.1 and older look at the last dimension, newer ones at all elements.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.expressions import known
from qdqtool.findings import Problem
from qdqtool.linting.runtimes import dims, operand, said, steps, told
from qdqtool.linting.subject import Subject
from qdqtool.targets.demands import is_odd

CODE = "QDQ416"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for place, lifted in steps(subject, caution):
            shape = known(lifted.step.x.shape)
            if not shape:
                continue
            if is_odd(caution, shape):
                name = operand(subject, lifted, 0)
                yield said(subject, caution, place, f"{lifted.storage} codes '{name}' {dims(shape)}", name, "pad them, or use 8 bits")
