"""A step with float8 codes has a zero point that is not 0.

**Why it matters**: ONNX Runtime refuses to run such a dequantize, and its quantize takes no notice of the value, so that the two
of a pair no longer belong together; the reference evaluator does the same in parts.

**Bad**: float8e4m3fn zero point 1.0

**Good**: float8e4m3fn zero point 0.0, which only tells the type

**Fix**: store 0 and move the offset into the graph as an ``Add``, if it was meant.

**Runtimes**: an error for a dequantize in ONNX Runtime.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from qdqtool.dtypes import FLOAT8
from qdqtool.expressions import is_const
from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ124"
SEVERITY = "warning"
STAGE = "graph"

HINT = "store 0, and add the offset in the graph if it was meant"


def check(subject: Subject) -> Iterator[Problem]:
    for place, lifted in subject.steps.items():
        zero = lifted.step.zero_point
        if lifted.storage not in FLOAT8 or not is_const(zero):
            continue
        count = int(subject.facts.ask("nonzero", zero))
        if count:
            name = subject.node(place).input[lifted.source.order[2]]
            refused = lifted.source.kind == "dequantize" and subject.profile is not None and subject.profile.name == "ort"
            consequence = f"{subject.profile} does not run it" if refused else "runtimes take no notice of the value"
            message = f"{count} of {prod(zero.shape)} values of the {lifted.storage} zero point '{name}' are not 0: {consequence}"
            yield subject.problem(place, message, HINT, about=name, severity="error" if refused else None)
