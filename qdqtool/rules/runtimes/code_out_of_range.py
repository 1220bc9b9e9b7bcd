"""Constant codes use a value that the runtime's kernels leave out.

**Why it matters**: symmetric kernels take -127 to 127, so that a product of two codes fits; -128 is refused or clipped.

**Bad**: int8 weights with -128

**Good**: int8 weights from -127 to 127

**Fix**: quantize weights with the narrow range.

**Runtimes**: LiteRT as documented.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.expressions import is_const
from qdqtool.findings import Problem
from qdqtool.linting.runtimes import dims, number, operand, said, steps, told
from qdqtool.linting.subject import Subject

CODE = "QDQ436"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for place, lifted in steps(subject, caution):
            x = lifted.step.x
            if is_const(x) and len(x.shape) > 1 and 0 not in x.shape:
                low = subject.facts.ask("value_range", x)[0]
                if low < caution.numbers["low"][0]:
                    name = operand(subject, lifted, 0)
                    yield said(subject, caution, place, f"weight '{name}' {dims(x.shape)} has codes of {number(low)}", name, "narrow range")
