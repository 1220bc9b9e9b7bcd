"""Constant codes are read by an operator that is no DequantizeLinear.

**Why it matters**: a runtime without a data type for codes outside of its quantize layers refuses the constant.

**Bad**: ``DequantizeLinear(Reshape(int8 weight))``

**Good**: ``Reshape(DequantizeLinear(int8 weight))``

**Fix**: move the operator behind the DequantizeLinear, or do it on the constant.

**Runtimes**: TensorRT as documented.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.dtypes import ElementType
from qdqtool.expressions import is_const
from qdqtool.findings import Problem
from qdqtool.linting.runtimes import said, told
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place, domain
from qdqtool.plan.lift import is_step
from qdqtool.targets.cautions import Caution

CODE = "QDQ437"
SEVERITY = "warning"
STAGE = "graph"

FREE = ("Constant", "Identity", "Cast", "MatMulInteger", "ConvInteger", "QLinearMatMul", "QLinearConv")
"""Folded, or told by operator-without-kernel."""


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for place, _, node in subject.view.places():
            if not domain(node.domain) and not is_step(node) and node.op_type not in FREE:
                yield from _reading(subject, caution, place)


def _reading(subject: Subject, caution: Caution, place: Place) -> Iterator[Problem]:
    node, scope = subject.node(place), subject.scope(place)
    for name in node.input:
        dtype = subject.types.at(scope, name).dtype if name else None
        if dtype is not None and _codes(dtype) and is_const(subject.constants.expression(scope, name)):
            yield said(subject, caution, place, f"{node.op_type} reads constant codes '{name}' of {dtype}", name)


def _codes(dtype: ElementType) -> bool:
    return dtype.bits <= 8 and dtype.kind in ("int", "uint", "float")
