"""The model declares another element type for the result of a quantize, dequantize or Cast than the node gives.

**Why it matters**: ONNX Runtime refuses the model. A quantize gives the type of its zero point, or of ``output_dtype``, else
uint8; a dequantize the type of its scale.

**Bad**: the output of ``QuantizeLinear(x, scale)`` declared as int8

**Good**: declared as uint8; or ``QuantizeLinear(x, scale, zero_point)`` with an int8 zero point

**Fix**: correct the declaration. Where a quantize without zero point is declared as another type of codes that it can give,
``--fix`` adds the zero point of that type.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.dtypes import ElementType, of_code
from qdqtool.expressions import known
from qdqtool.findings import Fix, Problem
from qdqtool.linting.mends import zeros
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place
from qdqtool.plan.lift import Lifted

CODE = "QDQ121"
SEVERITY = "error"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for place, lifted in subject.steps.items():
        possible = lifted.source.storage if lifted.source.kind == "quantize" else lifted.source.expressed
        told = subject.declared(place).dtype
        if told is not None and lifted.step.dtype in possible and told is not lifted.step.dtype:
            yield _problem(subject, place, told, lifted.step.dtype, _fix(subject, place, lifted, told))
    for place in subject.nodes("Cast"):
        to = subject.attribute(place, "to")
        made, told = of_code(to.i) if to is not None else None, subject.declared(place).dtype
        if made is not None and told is not None and made is not told:
            yield _problem(subject, place, told, made, None)


def _problem(subject: Subject, place: Place, told: ElementType, made: ElementType | None, fix: Fix | None) -> Problem:
    name = subject.node(place).output[0]
    return subject.problem(
        place, f"result '{name}' is declared as {told}, the node gives {made}", "correct the declaration", about=name, fix=fix
    )


def _fix(subject: Subject, place: Place, lifted: Lifted, told: ElementType) -> Fix | None:
    step, shape = lifted.step, known(lifted.step.scale.shape)
    if step.meaning.kind == "dequantize" or step.zero_point is not None or shape is None or told not in lifted.source.storage:
        return None
    return None if subject.attribute(place, "output_dtype") else zeros(subject, place, told, shape)
