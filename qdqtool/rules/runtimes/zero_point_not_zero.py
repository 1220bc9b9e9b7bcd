"""A zero point is not 0, and the runtime is symmetric only.

**Why it matters**: the model is refused, or the zero point is read over and every value is shifted.

**Bad**: ``uint8`` codes with zero point 128 in TensorRT

**Good**: ``int8`` codes with zero point 0: the same codes less 128

**Fix**: subtract the zero point from the codes where they then fit the type, else quantize again symmetrically.

**Runtimes**: TensorRT, AMD's NPU, LiteRT (weights) and QNN (weights with a scale for each channel); of float8 ONNX Runtime and OpenVINO.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from qdqtool.expressions import is_const
from qdqtool.findings import Problem
from qdqtool.linting.runtimes import dims, number, operand, outside, said, steps, told
from qdqtool.linting.subject import Subject
from qdqtool.plan.lift import Lifted
from qdqtool.targets.cautions import Caution
from qdqtool.targets.demands import zeros_allowed

CODE = "QDQ409"
SEVERITY = "error"
STAGE = "graph"
INSTEAD_OF = ("QDQ218",)


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for place, lifted in steps(subject, caution):
            what = _shifted(subject, caution, lifted)
            if what:
                yield said(subject, caution, place, what, operand(subject, lifted, 2))


def _shifted(subject: Subject, caution: Caution, lifted: Lifted) -> str:
    zero, storage = lifted.step.zero_point, lifted.storage
    if not is_const(zero) or not prod(zero.shape):
        return ""
    allowed = zeros_allowed(caution, lifted.step.meaning)
    found = outside(subject, zero, allowed)
    if found is None:
        return ""
    name, many = operand(subject, lifted, 2), prod(zero.shape)
    what = f"zero point '{name}' {dims(zero.shape)} of {storage}"
    expected = " or ".join(map(number, allowed))
    return f"{what} is {number(found[1])}" if many == 1 else f"{what} has {found[0]} of {many} values that are not {expected}"
