"""Constant 2-bit weights with a zero point stand behind a Transpose before a MatMul, which the runtime fails to fold.

**Why it matters**: the session is not created, at any optimization level but none.

**Bad**: ``MatMul(x, Transpose(DequantizeLinear(int2 weight, scale, zero point)))``

**Good**: ``MatMul(x, DequantizeLinear(int2 weight))`` with the codes transposed

**Fix**: transpose the codes; or start the session with ``ORT_DISABLE_ALL``.

**Runtimes**: ONNX Runtime 1.32 as measured, for weights of more than 127 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.expressions import is_const, nbytes
from qdqtool.findings import Problem
from qdqtool.linting.runtimes import dims, operand, said, told
from qdqtool.linting.subject import Subject
from qdqtool.plan.lift import Lifted
from qdqtool.targets.cautions import Caution

CODE = "QDQ433"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for layer in (one for one in subject.layers if one.op == "MatMul" and one.weight.step is not None):
            assert layer.weight.step is not None
            lifted = subject.steps[layer.weight.step]
            through = [subject.node(place).op_type for place in layer.weight.between]
            if through == ["Transpose"] and _folded(caution, lifted):
                name = operand(subject, lifted, 0)
                yield said(subject, caution, layer.weight.between[0], f"{lifted.storage} weight '{name}' {dims(lifted.step.x.shape)}", name)


def _folded(caution: Caution, lifted: Lifted) -> bool:
    """Its optimizer meets the codes: smaller ones it leaves alone."""
    x, storage = lifted.step.x, lifted.storage
    if storage is None or storage not in caution.storage or lifted.step.zero_point is None or not is_const(x):
        return False
    return nbytes(x) > caution.numbers["bytes"][0]
