"""A constant is stored in float and quantized whenever the model runs.

**Why it matters**: the file is as large as before quantization, four times what it could be, and runtimes that do not fold constants
quantize the weight in every run. ONNX Runtime 1.32 folds it at load, from the lowest optimization level on. Training frameworks export
fake-quantized weights in this form.

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

CODE = "QDQ312"
SEVERITY = "info"
STAGE = "graph"

FEWEST = 64
"""Smaller constants are not worth a word."""


def check(subject: Subject) -> Iterator[Problem]:
    for place, lifted in subject.steps.items():
        if lifted.step.meaning.kind != "quantize":
            continue
        name, x = operand_name(subject, place, 0), lifted.step.x
        if is_const(x) and lifted.storage is not None and elements(x.shape) >= FEWEST:
            size = f"{nbytes(x)} bytes, {lifted.storage.nbytes(nbytes(x) * 8 // x.dtype.bits)} as {lifted.storage}"
            message = f"constant '{name}' {x.dtype}{list(x.shape)} is quantized whenever the model runs ({size})"
            yield subject.problem(place, message, "qdqtool fold", about=name)
        maker, _ = behind(subject, place)
        if maker is not None and is_step(subject, maker, "dequantize") and is_const(subject.steps[maker].step.x):
            codes = operand_name(subject, maker, 0)
            message = f"constant codes '{codes}' are dequantized and quantized again whenever the model runs"
            yield subject.problem(place, message, "qdqtool fold", about=codes)
