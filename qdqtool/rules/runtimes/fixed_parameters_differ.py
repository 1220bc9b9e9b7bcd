"""An operator's result is quantized otherwise than the runtime's kernel for it does.

**Why it matters**: the range of Sigmoid, Tanh and Softmax is known, so kernels have its scale and zero point built in. What the model
says is read over, or refused.

**Bad**: Sigmoid to int8 with scale 0.01

**Good**: Sigmoid to int8 with scale 1/256 and zero point -128

**Fix**: give the QuantizeLinear behind the operator those parameters.

**Runtimes**: LiteRT as documented; QNN for 16 bits, as ONNX Runtime's quantizer for it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from qdqtool.findings import Problem
from qdqtool.linting.runtimes import number, one_number, said, told
from qdqtool.linting.subject import Subject
from qdqtool.linting.units import units
from qdqtool.plan.lift import Lifted
from qdqtool.targets.cautions import Caution

CODE = "QDQ422"
SEVERITY = "error"
STAGE = "graph"

CLOSE = 1e-5


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for unit in units(subject, caution.ops):
            if unit.output is not None and unit.output.storage in caution.storage:
                what = _other(subject, caution, unit.output)
                if what:
                    result = subject.node(unit.place).output[0]
                    yield said(subject, caution, unit.place, f"result '{result}' of {unit.op} with {what}", result)


def _other(subject: Subject, caution: Caution, output: Lifted) -> str:
    step = output.step
    scale, zero = one_number(subject, step.scale), 0.0 if step.zero_point is None else one_number(subject, step.zero_point)
    wanted, offset = caution.numbers["scale"][0], caution.numbers["zero"][0]
    if scale is None or zero is None or (isclose(scale, wanted, rel_tol=CLOSE) and zero == offset):
        return ""
    return f"scale {scale:.6g} and zero point {number(zero)}, not {wanted:.6g} and {number(offset)}"
