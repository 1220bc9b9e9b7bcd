"""The axis of the scales is not written, and the runtime has another default than ONNX.

**Why it matters**: without the attribute ONNX means axis 1. A runtime that means axis 0 scales rows instead of columns; where both have
the same length nothing fails, and the result is wrong.

**Bad**: ``DequantizeLinear(w, scale[64])``

**Good**: ``DequantizeLinear<axis = 1>(w, scale[64])``

**Fix**: write the attribute; ``qdqtool validate --fix`` does.

**Runtimes**: TensorRT 10.1 and older by its source.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.mends import attribute
from qdqtool.linting.runtimes import dims, operand, said, told
from qdqtool.linting.subject import Subject
from qdqtool.quantization import Blocked, PerAxis
from qdqtool.targets.demands import unwritten_axis

CODE = "QDQ412"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for form, places in subject.forms.items():
            where = form.meaning.granularity
            if not unwritten_axis(caution, form.meaning, form.given) or not isinstance(where, PerAxis | Blocked):
                continue
            for place in places:
                name = operand(subject, subject.steps[place], 1)
                yield said(
                    subject,
                    caution,
                    place,
                    f"scale '{name}' {dims(form.scale.shape)} without axis, which is {where.axis}",
                    "axis",
                    fix=attribute(subject, place, "axis", where.axis) if form.row.axis else None,
                )
