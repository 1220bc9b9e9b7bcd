"""The runtime takes blocks, but not these.

**Why it matters**: ONNX lets the last block be short and lets blocks lie along any axis; many runtimes do not.

**Bad**: blocks of 32 along a dimension of 48

**Good**: blocks of 16 there: each scale twice

**Fix**: smaller blocks that divide the dimension, with repeated scales, mean the same.

**Runtimes**: OpenVINO as measured; TensorRT and Core ML by their sources.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from qdqtool.findings import Problem
from qdqtool.linting.forms import Form
from qdqtool.linting.runtimes import dims, operand, said, told
from qdqtool.linting.subject import Subject
from qdqtool.quantization import Blocked
from qdqtool.targets.cautions import Caution

CODE = "QDQ413"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for form, places in subject.forms.items():
            what, hint = _misfit(form, caution)
            for place in places if what else ():
                lifted = subject.steps[place]
                name = operand(subject, lifted, 0)
                yield said(subject, caution, place, f"{what} of '{name}' {dims(form.x.shape)}", name, hint)


def _misfit(form: Form, caution: Caution) -> tuple[str, str]:
    meaning, where, shape = form.meaning, form.meaning.granularity, form.x.shape
    about = caution.kind in (None, meaning.kind) and (not caution.storage or meaning.storage in caution.storage)
    if not about or not isinstance(where, Blocked):
        return "", ""
    limits, fitting = caution.numbers, "quantize in blocks that fit"
    if where.block not in limits.get("sizes", (where.block,)):
        return str(where), fitting
    if shape is None:
        return "", ""
    length = shape[where.axis]
    if "divides" in limits and length is not None and length % where.block:
        return str(where), f"blocks of {gcd(length, where.block)}, each scale repeated, mean the same"
    if len(shape) < limits.get("rank", (0,))[0] or len(shape) - where.axis not in limits.get("from_end", (len(shape) - where.axis,)):
        return str(where), fitting
    return "", ""
