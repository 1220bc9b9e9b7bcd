"""The output of a Conv with quantized input and weight does not go into a quantize.

**Why it matters**: ONNX Runtime 1.32 makes a QLinearConv only of ``DQ, DQ -> Conv -> Q`` where nobody else reads the Conv, and leaves all
else in float: weights are dequantized and the Conv is no faster than before (seen in its optimized models). Relu and Clip may stand
between if the codes begin and end within them: a Relu before zero point 110 keeps the layer in float, as do LeakyRelu, a second reader
and a graph output. Gemm and MatMul have integer kernels with float output, and are not reported.

**Bad**: ``Conv -> LeakyRelu -> Q``

**Good**: ``Conv -> Q -> DQ -> LeakyRelu -> Q``

**Fix**: a quantize and dequantize after the Conv; for Relu, a zero point at the low end.

**Runtimes**: ONNX Runtime; for others nothing is reported. TensorRT takes Relu and Clip into its kernels whatever the codes.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

CODE = "QDQ308"
SEVERITY = "warning"
STAGE = "graph"

AFTER = "put a quantize and dequantize after the Conv"
CLOSER = "codes that end where the activation does: for Relu, a zero point at the low end (uint8 0, int8 -128)"


def check(subject: Subject) -> Iterator[Problem]:
    for place, reason in subject.obstacles.items():
        if reason:
            message = f"computed in float: input and weight are quantized, but the output {reason}"
            yield subject.problem(place, message, CLOSER if " through " in reason else AFTER)
