"""A blocked scale differs from the input in a dimension where no blocks lie.

**Why it matters**: blocks lie along one axis only, and there is no broadcasting. The usual cause is the wrong axis (nncf writes
axis 0 for embeddings whose blocks lie along axis 1), or a two-dimensional block. ``onnx.checker`` passes it, ONNX Runtime fails
when the node runs.

**Bad**: weights [512, 128], scale [512, 4], ``axis = 0``, ``block_size = 32``

**Good**: the same with ``axis = 1``

**Fix**: ``--fix`` names the right axis where blocks fit along exactly one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from qdqtool.findings import Problem
from qdqtool.linting.forms import Form, each
from qdqtool.linting.mends import other_axis
from qdqtool.linting.subject import Subject

CODE = "QDQ139"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    return each(subject, _fault, _hint, "x", "scale", fix=partial(other_axis, subject))


def _fault(form: Form) -> str:
    return form.misfit.text if form.misfit and form.misfit.kind == "block others" else ""


def _hint(form: Form) -> str:
    return (
        "give the scale the lengths of the input in all other dimensions"
        if form.only_axis is None
        else f"blocks fit along axis {form.only_axis}"
    )
