"""An activation has several scales, and the runtime takes one.

**Why it matters**: integer kernels multiply by one scale for the whole activation; only weights may have one for each channel.

**Bad**: ``QuantizeLinear<axis = 1>(activation, scale[64])``

**Good**: ``QuantizeLinear(activation, scale[])``

**Fix**: calibrate activations per tensor.

**Runtimes**: QNN as measured; TensorRT, LiteRT and Core ML (blocks) as documented.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.runtimes import dims, operand, said, steps, told
from qdqtool.linting.subject import Subject

CODE = "QDQ417"
SEVERITY = "error"
STAGE = "graph"
INSTEAD_OF = ("QDQ318",)


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for place, lifted in steps(subject, caution):
            name, meaning = operand(subject, lifted, 1), lifted.step.meaning
            what = f"activation '{operand(subject, lifted, 0)}' with scale '{name}' {dims(lifted.step.scale.shape)}, {meaning.granularity}"
            yield said(subject, caution, place, what, name, "calibrate activations per tensor")
