"""Inputs and result of an operator that only moves or selects values have different scales, and the runtime wants one.

**Why it matters**: such kernels copy codes. With two scales they would have to compute, and have no kernel for that.

**Bad**: Concat of scales 0.1 and 0.2

**Good**: Concat of scales 0.2 and 0.2

**Fix**: quantize all of them with the largest scale.

**Runtimes**: LiteRT and AMD's NPU, as documented.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.runtimes import number, one_number, said, told
from qdqtool.linting.subject import Subject
from qdqtool.linting.units import Unit, units
from qdqtool.plan.lift import Lifted
from qdqtool.targets.cautions import Caution

CODE = "QDQ423"
SEVERITY = "error"
STAGE = "graph"

SEVERAL = ("Concat", "Max", "Min")
"""Operators whose inputs are all data."""


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for unit in units(subject, caution.ops):
            values = _values(subject, caution, unit)
            if len(values) > 1:
                what = f"{unit.op} with {' and '.join(values)}"
                yield said(subject, caution, unit.place, what, subject.node(unit.place).output[0], "quantize all with the largest scale")


def _values(subject: Subject, caution: Caution, unit: Unit) -> list[str]:
    """The different parameters around the operator, in words."""
    data = [lifted for slot, lifted in unit.inputs.items() if slot == 0 or unit.op in SEVERAL]
    around = [*data, *([unit.output] if unit.output is not None else [])]
    return list(dict.fromkeys(said for lifted in around if (said := _said(subject, caution, lifted))))


def _said(subject: Subject, caution: Caution, lifted: Lifted) -> str:
    step = lifted.step
    scale, zero = one_number(subject, step.scale), 0.0 if step.zero_point is None else one_number(subject, step.zero_point)
    if scale is None or zero is None:
        return ""
    return f"scale {scale:.6g}" + (f" and zero point {number(zero)}" if "zero_point" in caution.numbers else "")
