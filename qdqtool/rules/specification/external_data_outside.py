"""External data lies outside the folder of the model: by an absolute path, ``..``, or a link that leads away; or it has no path.

**Why it matters**: ONNX Runtime refuses such models, since a model from elsewhere could read any file of the machine.

**Bad**: ``location: ../weights/model.data``

**Good**: ``location: model.data``

**Fix**: move the data beside the model and save the model again.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ164"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    for fault in subject.references:
        if fault.code == "data-outside":
            yield Problem("", fault.message, "move the data beside the model and save it again", about=fault.location)
