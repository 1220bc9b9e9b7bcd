"""``axis`` names a dimension that the input does not have.

**Why it matters**: ``onnx.checker`` passes it and ONNX Runtime loads it, then fails when the node runs. With one scale for the
whole tensor the axis means nothing and is not looked at.

**Bad**: ``axis = 2`` for an input of rank 2 and a vector of scales

**Good**: ``axis = 1``, or ``axis = -1``

**Fix**: name the dimension whose length is the number of scales.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.subject import Subject

CODE = "QDQ130"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    return each(subject, _fault, "name the dimension whose length is the number of scales", "x", "scale")


def _fault(form: Form) -> str:
    return form.misfit.text if form.misfit and form.misfit.kind == "axis" and "axis" in form.given else ""
