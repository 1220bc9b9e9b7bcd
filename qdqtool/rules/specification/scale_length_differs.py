"""A vector of scales is not as long as the dimension that ``axis`` names.

**Why it matters**: there is no broadcasting. ``onnx.checker`` passes it, ONNX Runtime fails when the node runs. The usual cause
is the wrong axis after a transposition of the weights.

**Bad**: 4 scales for weights [4, 6] and ``axis = 1``

**Good**: ``axis = 0``

**Fix**: name the dimension whose length is the number of scales.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.subject import Subject

CODE = "QDQ133"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    return each(subject, _fault, "name the axis whose length is the number of scales", "x", "scale")


def _fault(form: Form) -> str:
    return form.misfit.text if form.misfit and form.misfit.kind == "length" else ""
