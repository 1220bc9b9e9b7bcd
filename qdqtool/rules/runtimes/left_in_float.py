"""Operators between 16-bit codes, which the runtime computes in float.

**Why it matters**: the model is right and no faster than a float model; every operator dequantizes and quantizes.

**Bad**: a 16-bit Conv on a runtime with 8-bit kernels only, where speed was wanted

**Good**: 8-bit activations, or a runtime with 16-bit kernels

**Fix**: none needed where accuracy was the reason.

**Runtimes**: ONNX Runtime on the CPU, as measured; only MatMul with constant weights is fused there.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.runtimes import said, told
from qdqtool.linting.subject import Subject

CODE = "QDQ435"
SEVERITY = "info"
STAGE = "graph"

HINT = "8-bit activations where speed was wanted"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        if caution.storage.isdisjoint(lifted.storage for lifted in subject.steps.values() if lifted.storage is not None):
            continue
        around = [unit for unit in subject.units.values() if unit.output is not None and unit.op != "MatMul"]
        found = [unit for unit in around if unit.inputs.get(0) is not None and unit.inputs[0].storage in caution.storage]
        if found:
            more = f", one of {len(found)} operators" if len(found) > 1 else ""
            yield said(subject, caution, found[0].place, f"{found[0].op} of {found[0].inputs[0].storage}{more}", found[0].op, HINT)
