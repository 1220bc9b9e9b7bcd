"""Of scale and zero point one is a scalar and the other a vector of one element.

**Why it matters**: the specification wants equal shapes. Several exporters write it and every runtime measured computes what is
meant, but strict importers need not.

**Bad**: scale [] with a zero point [1]

**Good**: both []

**Fix**: ``--fix`` gives the zero point the shape of the scale.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.mends import shaped_like_scale
from qdqtool.linting.subject import Subject

CODE = "QDQ135"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    return each(
        subject, _fault, "give the zero point the shape of the scale", "scale", "zero point", fix=partial(shaped_like_scale, subject)
    )


def _fault(form: Form) -> str:
    shapes = (form.scale.shape, form.zero_point.shape if form.zero_point else None)
    return "scale and zero point have different shapes" if shapes in (((), (1,)), ((1,), ())) else ""
