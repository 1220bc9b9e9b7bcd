"""An operator's result is quantized to another type than its input, or not at all, and the runtime has no such kernel.

**Why it matters**: the operator leaves the integer device; every crossing costs more than the operator.

**Bad**: a Conv from uint8 to uint16; a Conv whose result is not quantized

**Good**: a Conv from uint8 to uint8, then a pair that changes the type

**Fix**: quantize the result to the type of the input, and change the type behind it with a DequantizeLinear-QuantizeLinear pair.

**Runtimes**: QNN as measured.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.runtimes import said, told
from qdqtool.linting.subject import Subject
from qdqtool.linting.units import units
from qdqtool.model.graph import Place

CODE = "QDQ420"
SEVERITY = "error"
STAGE = "graph"

FUSED = ("Relu", "Clip")
"""Operators between a product and the quantize behind it that are part of the product's kernel."""


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for unit in units(subject, caution.ops):
            data = unit.inputs.get(0)
            if data is None or data.storage is None:
                continue
            made = None if unit.output is None else unit.output.storage
            if (unit.output is None and not _activated(subject, unit.place)) or (made is not None and made is not data.storage):
                result = subject.node(unit.place).output[0]
                kind = f"{made} codes" if made else "float"
                what = f"{unit.op} from {data.storage} to {kind} '{result}'"
                yield said(subject, caution, unit.place, what, result)


def _activated(subject: Subject, place: Place) -> bool:
    """Behind a Relu or Clip its result is quantized."""
    readers = subject.readers(place)
    if len(readers) != 1 or subject.node(readers[0].place).op_type not in FUSED:
        return False
    return any(use.place in subject.steps for use in subject.readers(readers[0].place))
