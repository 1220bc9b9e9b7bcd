"""``block_size`` is negative.

**Why it matters**: it has no meaning. ``onnx.checker`` passes it, ONNX Runtime refuses the model.

**Bad**: ``block_size = -1``

**Good**: ``block_size = 32``

**Fix**: write the number of elements that share a scale; leave it out for one scale per index.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.subject import Subject

CODE = "QDQ136"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    return each(subject, _fault, "write how many elements share a scale", about="block_size")


def _fault(form: Form) -> str:
    return form.misfit.text if form.misfit and form.misfit.kind == "block" else ""
