"""Nobody reads the result of a quantize or dequantize.

**Why it matters**: it costs time in runtimes that do not look for such nodes, and its scale and codes cost space. It is left over when a
tool rewired its reader.

**Bad**: ``DequantizeLinear`` whose output no node reads, and which is no output of the graph

**Good**: a graph without it

**Fix**: ``--fix`` takes the node away, with the constants that only it read.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting import rewrites
from qdqtool.linting.pairs import is_read
from qdqtool.linting.subject import Subject

CODE = "QDQ317"
SEVERITY = "info"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for place in subject.steps:
        if not is_read(subject, place):
            node = subject.node(place)
            message = f"nobody reads '{node.output[0]}'"
            yield subject.problem(place, message, "remove the node", fix=rewrites.removed(subject, place))
