"""A zero point is left out where the runtime needs one, or takes another type without it.

**Why it matters**: without a zero point and ``output_dtype`` ONNX quantizes to uint8, TensorRT to int8: the same file, other codes.

**Bad**: ``QuantizeLinear(x, scale)`` in TensorRT

**Good**: ``QuantizeLinear(x, scale, int8 0)``

**Fix**: write the zero point; ``qdqtool validate --fix`` does where the type is known.

**Runtimes**: TensorRT by its source, OpenVINO (blocks) as measured, DirectML below feature level 6.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.dtypes import INT32
from qdqtool.expressions import known
from qdqtool.findings import Fix, Problem
from qdqtool.linting.mends import zeros
from qdqtool.linting.runtimes import operand, said, steps, told
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place
from qdqtool.plan.lift import Lifted

CODE = "QDQ410"
SEVERITY = "error"
STAGE = "graph"
INSTEAD_OF = ("QDQ123",)


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for place, lifted in steps(subject, caution):
            if lifted.step.zero_point is None:
                meaning = lifted.step.meaning
                what = f"no zero point ({meaning.storage or 'unknown'} codes, {meaning.granularity or 'granularity unknown'})"
                yield said(subject, caution, place, what, operand(subject, lifted, 0), "write the zero point", _fix(subject, place, lifted))


def _fix(subject: Subject, place: Place, lifted: Lifted) -> Fix | None:
    """Beside output_dtype it stays away, which newer versions of ONNX Runtime do not load together."""
    shape = known(lifted.step.scale.shape)
    if shape is None or lifted.storage in (None, INT32) or subject.attribute(place, "output_dtype") is not None:
        return None
    return zeros(subject, place, lifted.storage, shape)
