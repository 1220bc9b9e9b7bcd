"""A bias is quantized as the runtime does not take it.

**Why it matters**: integer kernels add the bias to a 32-bit sum whose scale is the product of the other two scales.

**Bad**: a uint8 bias; an int32 bias with a scale of its own in LiteRT

**Good**: an int32 bias with scale ``x_scale * w_scale`` and zero point 0

**Fix**: quantize the bias to int32 with that scale.

**Runtimes**: QNN as measured (it takes any scale, and int8 as well), LiteRT as documented.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qdqtool.expressions import Expr, is_const
from qdqtool.findings import Problem
from qdqtool.kernels.sources import Array, materialize
from qdqtool.linting.runtimes import listed, operand, said, told
from qdqtool.linting.subject import Subject
from qdqtool.linting.units import Unit, units
from qdqtool.plan.lift import Lifted
from qdqtool.targets.cautions import Caution

CODE = "QDQ421"
SEVERITY = "error"
STAGE = "graph"
INSTEAD_OF = ("QDQ211", "QDQ212")

CLOSE = 1e-5
"""Of a product of two float32 scales, as quantizers round it."""


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for unit in units(subject, caution.ops):
            bias = unit.inputs.get(2)
            what = "" if bias is None else _wrong(subject, caution, unit, bias)
            if bias is not None and what:
                yield said(subject, caution, bias.place, f"bias '{operand(subject, bias, 0)}' {what}", operand(subject, bias, 0))


def _wrong(subject: Subject, caution: Caution, unit: Unit, bias: Lifted) -> str:
    if bias.storage is not None and bias.storage not in caution.storage:
        return f"of {bias.storage}, not {listed(caution.storage)}"
    zero = bias.step.zero_point
    if "zero" in caution.numbers and is_const(zero) and not subject.facts.ask("among", zero, caution.numbers["zero"]):
        return "with a zero point"
    if "product" not in caution.numbers:
        return ""
    scales = [_scale(subject, lifted.step.scale) for lifted in (unit.inputs.get(0), unit.inputs.get(1), bias) if lifted is not None]
    if len(scales) < 3 or any(s is None for s in scales):
        return ""
    data, weight, own = (s for s in scales if s is not None)
    if data.size != 1 and weight.size not in (1, data.size):
        return ""
    product = data * weight
    if own.size not in (1, product.size) or np.allclose(own, product, rtol=CLOSE, atol=0):
        return ""
    return f"with scale {own.reshape(-1)[0]:.6g}, not {product.reshape(-1)[0]:.6g}"


def _scale(subject: Subject, scale: Expr) -> Array | None:
    return materialize(subject.source(scale)).astype(np.float64).reshape(-1) if is_const(scale) and 0 not in scale.shape else None
