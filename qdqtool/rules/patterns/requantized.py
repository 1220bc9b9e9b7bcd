"""Codes are dequantized and quantized again with other parameters, with nothing between.

**Why it matters**: each value is rounded twice, and everything outside the narrower range is cut off. From one type to another (uint8 to
uint16 between parts of a mixed model) it is meant, and an info; from int32, the type of sums, it is the usual thing. Where the runtime in
force makes one pair of two, double-qdq-merged says so instead.

**Bad**: ``QuantizeLinear(DequantizeLinear(q, 0.02, 110), 0.025, 100)``

**Good**: one pair, with the parameters that are meant

**Fix**: calibrate the tensor once.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool import dtypes
from qdqtool.expressions import is_const
from qdqtool.findings import Problem
from qdqtool.linting.pairs import behind, equal, is_step, parameters
from qdqtool.linting.subject import Subject

CODE = "QDQ303"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for place, lifted in subject.steps.items():
        maker, _ = behind(subject, place) if lifted.step.meaning.kind == "quantize" else (None, ())
        if maker is None or not is_step(subject, maker, "dequantize") or is_const(subject.steps[maker].step.x):
            continue
        if subject.steps[maker].storage is dtypes.INT32:
            continue
        if equal(subject, maker, place) is False:
            other_type = subject.steps[maker].step.meaning.storage is not lifted.step.meaning.storage
            message = f"codes with {parameters(subject, maker)} are quantized again with {parameters(subject, place)}"
            yield subject.problem(place, message, "quantize the tensor once", severity="info" if other_type else None)
