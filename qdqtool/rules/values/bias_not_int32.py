"""A quantized bias is not int32.

**Why it matters**: integer kernels add the bias to a sum of int32. ONNX Runtime 1.32 computes a Conv or Gemm with an 8- or 16-bit bias
in float, without a warning, and the QNN HTP rejects the node. With 8 bits the bias is also the least exact part of the layer.

**Bad**: ``DequantizeLinear(uint8 bias, bias_scale, 128)``

**Good**: ``DequantizeLinear(int32 bias, x_scale * w_scale)``

**Fix**: quantize the bias to int32 with the scale ``x_scale * w_scale``, or leave it in float32.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool import dtypes
from qdqtool.findings import Problem
from qdqtool.linting.scales import operand_name
from qdqtool.linting.subject import Subject

CODE = "QDQ212"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    seen = set()
    for layer in subject.layers:
        if layer.bias is None or layer.bias.step is None or layer.weight.step is None or layer.data.step is None:
            continue
        storage = subject.steps[layer.bias.step].storage
        if storage is not None and storage.integer and storage is not dtypes.INT32 and layer.bias.step not in seen:
            seen.add(layer.bias.step)
            name = operand_name(subject, layer.bias.step, 0)
            message = f"bias '{name}' of {layer.op} '{subject.node(layer.place).name}' is {storage}, where integer kernels add int32"
            yield subject.problem(layer.bias.step, message, "int32 with the scale x_scale * w_scale", about=name)
