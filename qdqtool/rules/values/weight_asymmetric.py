"""A weight of a signed type has a zero point that is not 0.

**Why it matters**: int8 and int4 weights are symmetric nearly everywhere, and kernels rely on it: TensorRT and LiteRT refuse others, the
QNN HTP refuses them per channel, and where they run, each zero point costs a sum over the input. ONNX Runtime 1.32 fuses them like others.

**Bad**: int8 weight, zero point 5

**Good**: int8 weight, zero point 0

**Fix**: quantize weights symmetrically; ``x_scale`` keeps its zero point, only the weight needs none.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qdqtool.expressions import is_const
from qdqtool.findings import Problem
from qdqtool.linting.scales import operand_name
from qdqtool.linting.subject import Subject
from qdqtool.linting.weights import Weight

CODE = "QDQ218"
SEVERITY = "info"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for weight in subject.weights:
        if weight.role == "weight" and weight.const.dtype.kind == "int":
            problem = _problem(subject, weight)
            if problem is not None:
                yield problem


def _problem(subject: Subject, weight: Weight) -> Problem | None:
    zero = weight.lifted.step.zero_point
    zeros = weight.zeros if is_const(zero) and subject.facts.ask("nonzero", zero) else None
    if zeros is None:
        return None
    name, first = operand_name(subject, weight.place, 2), int(np.argmax(zeros != 0))
    number = int((zeros != 0).sum())
    what = f"is {zeros[0]:.0f}" if zeros.size == 1 else f"has {number} of {zeros.size} values that are not 0, first at [{first}]"
    return subject.problem(weight.place, f"zero point '{name}' of {weight} {what}", "quantize weights symmetrically", about=name)
