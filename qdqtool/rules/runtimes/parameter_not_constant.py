"""A scale or zero point is computed by the model, and the runtime wants a constant.

**Why it matters**: runtimes that compile the model for integer kernels need the numbers when they compile.

**Bad**: a scale that DynamicQuantizeLinear or a graph input gives

**Good**: a scale from calibration, as an initializer

**Fix**: static quantization; an initializer that a graph input can override becomes a constant when the input is removed.

**Runtimes**: QNN as measured, tract as measured, TensorRT and Core ML by their sources.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.expressions import is_const
from qdqtool.findings import Problem
from qdqtool.linting.runtimes import operand, said, steps, told
from qdqtool.linting.subject import Subject
from qdqtool.plan.lift import Lifted

CODE = "QDQ414"
SEVERITY = "error"
STAGE = "graph"
INSTEAD_OF = ("QDQ311",)


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for place, lifted in steps(subject, caution):
            computed = _computed(lifted)
            if computed:
                named = " and ".join(f"{role} '{operand(subject, lifted, number)}'" for number, role in computed)
                about = operand(subject, lifted, computed[0][0])
                yield said(subject, caution, place, f"{named} not constant", about, "calibrate statically")


def _computed(lifted: Lifted) -> list[tuple[int, str]]:
    step = lifted.step
    parameters = ((1, "scale", step.scale), (2, "zero point", step.zero_point))
    return [(number, role) for number, role, expr in parameters if expr is not None and not is_const(expr)]
