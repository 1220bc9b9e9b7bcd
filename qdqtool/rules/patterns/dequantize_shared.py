"""Several operators read one dequantize.

**Why it matters**: fusion wants a dequantize for each operator. ONNX Runtime makes copies when it loads the model (1.15 lost the axis
doing so, 1.32 does not; both layers behind a shared weight become QLinearConv), others take a value with two readers for one that must
exist in float: partitions break there. Reported once for a model.

**Bad**: ``DequantizeLinear(q) -> Conv, Add``

**Good**: two DequantizeLinear of the same codes

**Fix**: nothing for ONNX Runtime; else a copy for each reader (the codes stay one tensor).
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject
from qdqtool.linting.words import counted
from qdqtool.model.graph import Place

CODE = "QDQ316"
SEVERITY = "info"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    shared: list[tuple[Place, int]] = []
    for place, lifted in subject.steps.items():
        if lifted.step.meaning.kind == "dequantize":
            readers = len({use.place for use in subject.readers(place)})
            if readers > 1:
                shared.append((place, readers))
    if shared:
        place, readers = shared[0]
        nodes = counted(len(shared), "dequantize node has", "dequantize nodes have")
        message = f"{nodes} several readers (the first {readers})"
        yield subject.problem(place, message, "nothing to do for ONNX Runtime; a compiler may want a copy for each reader")
