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
from qdqtool.targets.demands import misfit

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
    where, shape = form.meaning.granularity, form.x.shape
    found = misfit(caution, form.meaning, shape)
    if found != "ragged" or not isinstance(where, Blocked) or shape is None:
        return (str(where), "quantize in blocks that fit") if found else ("", "")
    return str(where), f"blocks of {gcd(shape[where.axis] or 0, where.block)}, each scale repeated, mean the same"
