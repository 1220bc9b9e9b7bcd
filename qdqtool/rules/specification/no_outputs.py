"""The graph has no outputs.

**Why it matters**: nothing that it computes can be asked for; ONNX Runtime loads it and fails when it is run.

**Bad**: a graph cut out of a model without its outputs being declared

**Good**: with the last values listed as outputs

**Fix**: declare what the graph shall give.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ159"
SEVERITY = "error"
STAGE = "file"


def check(subject: Subject) -> Iterator[Problem]:
    if not subject.proto.graph.output:
        yield Problem("main", "the graph has no outputs", "declare what it shall give", about="output")
