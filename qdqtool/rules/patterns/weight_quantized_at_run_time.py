"""A constant is stored in float and quantized whenever the model runs.

**Why it matters**: the file is as large as before quantization, four times what it could be, and runtimes that do not fold constants
quantize the weight in every run. ONNX Runtime 1.32 folds it at load, from the lowest optimization level on. Training frameworks export
fake-quantized weights in this form. Reported once for a model.

**Bad**: ``DequantizeLinear(QuantizeLinear(float weight, s, z), s, z)``

**Good**: ``DequantizeLinear(int8 weight, s, z)``

**Fix**: ``qdqtool fold`` stores the codes.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.expressions import elements, is_const, nbytes
from qdqtool.findings import Problem
from qdqtool.linting.pairs import behind, is_step
from qdqtool.linting.scales import operand_name
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place
from qdqtool.plan.lift import Lifted

CODE = "QDQ312"
SEVERITY = "info"
STAGE = "graph"

FEWEST = 64
"""Smaller constants are not worth a word."""

HINT = "qdqtool fold stores the codes"


def check(subject: Subject) -> Iterator[Problem]:
    stored: list[Place] = []
    for place, lifted in subject.steps.items():
        if lifted.step.meaning.kind != "quantize":
            continue
        if is_const(lifted.step.x) and lifted.storage is not None and elements(lifted.step.x.shape) >= FEWEST:
            stored.append(place)
        maker, _ = behind(subject, place)
        if maker is not None and is_step(subject, maker, "dequantize") and is_const(subject.steps[maker].step.x):
            codes = operand_name(subject, maker, 0)
            message = f"constant codes '{codes}' are dequantized and quantized again whenever the model runs"
            yield subject.problem(place, message, HINT, about=codes)
    if stored:
        yield _told(subject, stored)


def _told(subject: Subject, places: list[Place]) -> Problem:
    sizes = [_sizes(subject.steps[place]) for place in places]
    real, codes = (sum(column) for column in zip(*sizes, strict=True))
    name, x = operand_name(subject, places[0], 0), subject.steps[places[0]].step.x
    constants = f"constant '{name}' {x.dtype}{list(x.shape or ())} is"
    if len(places) > 1:
        constants = f"{len(places)} constants, first '{name}', are"
    message = f"{constants} quantized whenever the model runs ({real} bytes, {codes} as codes)"
    return subject.problem(places[0], message, HINT, about="constants")


def _sizes(lifted: Lifted) -> tuple[int, int]:
    """Bytes as stored, and as codes."""
    x = lifted.step.x
    assert is_const(x)
    assert lifted.storage is not None
    return nbytes(x), lifted.storage.nbytes(elements(x.shape))
