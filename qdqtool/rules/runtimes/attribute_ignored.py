"""The runtime reads an attribute over that says something.

**Why it matters**: the model runs and gives other numbers, without a word.

**Bad**: ``output_dtype = int8`` without a zero point in tract, which gives uint8; ``saturate = 0`` in OpenVINO, which saturates

**Good**: a zero point of the type wanted

**Fix**: say the same by an operand, or by operators around the node.

**Runtimes**: OpenVINO and tract as measured, TensorRT by its source.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool import dtypes
from qdqtool.findings import Problem
from qdqtool.linting.forms import Form
from qdqtool.linting.runtimes import said, told
from qdqtool.linting.subject import Subject

CODE = "QDQ408"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for form, places in subject.forms.items():
            what = _told_by(form, caution.attribute)
            for place in places if what else ():
                yield said(subject, caution, place, what, caution.attribute)


def _told_by(form: Form, attribute: str) -> str:
    """What the attribute says beside the default, in words."""
    meaning = form.meaning
    if attribute == "precision" and meaning.compute not in (None, dtypes.FLOAT):
        return f"the division is in {meaning.compute}"
    if attribute == "saturate" and not meaning.saturate:
        return "saturate is 0"
    if attribute == "output_dtype" and form.zero_point is None and attribute in form.given and meaning.storage is not dtypes.UINT8:
        return f"output_dtype is {meaning.storage}" if meaning.kind == "quantize" else ""
    return ""
