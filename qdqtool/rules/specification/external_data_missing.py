"""The file that holds external data of the model is not there.

**Why it matters**: the model has no weights. It comes from copying or downloading the ``.onnx`` alone.

**Bad**: ``model.onnx`` without the ``model.onnx.data`` that it names

**Good**: both in one folder

**Fix**: copy the file beside the model under the name that the model gives it.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ160"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    for fault in subject.references:
        if fault.code == "data-missing":
            yield Problem("", fault.message, "copy the file beside the model, under that name", about=fault.location)
