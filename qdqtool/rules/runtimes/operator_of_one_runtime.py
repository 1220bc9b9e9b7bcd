"""A node belongs to a domain that only one runtime loads.

**Why it matters**: the model cannot be run, compared or converted anywhere else.

**Bad**: ``com.amd.quark.ExtendedQuantizeLinear``

**Good**: ``QuantizeLinear``

**Fix**: export with standard operators where the types allow it.

**Runtimes**: AMD's NPU. (Other runtimes refuse such nodes: operator-without-kernel.)
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.runtimes import said, told
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import domain

CODE = "QDQ439"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for place, _, node in subject.view.places():
            if domain(node.domain) == caution.domain:
                yield said(subject, caution, place, f"{caution.domain} {node.op_type}", node.op_type)
