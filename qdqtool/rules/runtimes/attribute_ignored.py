"""The runtime reads an attribute over that says something.

**Why it matters**: the model runs and gives other numbers, without a word.

**Bad**: ``output_dtype = int8`` without a zero point in tract, which gives uint8; ``saturate = 0`` in OpenVINO, which saturates

**Good**: a zero point of the type wanted

**Fix**: say the same by an operand, or by operators around the node.

**Runtimes**: OpenVINO and tract as measured, TensorRT by its source.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.runtimes import said, told
from qdqtool.linting.subject import Subject
from qdqtool.targets.demands import ignored

CODE = "QDQ408"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for form, places in subject.forms.items():
            what = ignored(caution.attribute, form.meaning, form.given, zero_point=form.zero_point is not None)
            for place in places if what else ():
                yield said(subject, caution, place, what, caution.attribute)
