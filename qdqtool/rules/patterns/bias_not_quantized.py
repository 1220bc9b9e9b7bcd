"""Layers with quantized input and weight have a float bias.

**Why it matters**: ONNX Runtime 1.32 quantizes such a bias itself when it loads the model (one step off in at most 0.13 % of the results),
and TensorRT wants it so. LiteRT and many NPUs want int32 with the scale ``x_scale * w_scale``. Reported once for a model; what the
runtime in force quantizes itself is left to float-bias-quantized.

**Bad**: ``Conv(DequantizeLinear(x), DequantizeLinear(w), float bias)``, for LiteRT

**Good**: ``Conv(DequantizeLinear(x), DequantizeLinear(w), DequantizeLinear(int32 bias))``

**Fix**: nothing for ONNX Runtime and TensorRT; else quantize the bias to int32.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem
from qdqtool.linting.biases import float_biases
from qdqtool.linting.layers import is_weight
from qdqtool.linting.runtimes import told
from qdqtool.linting.subject import Subject
from qdqtool.linting.words import counted

CODE = "QDQ310"
SEVERITY = "info"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    told_already = {layer.place for caution in told(subject, "float_bias_quantized") for layer in float_biases(subject, caution)}
    others = (one for one in subject.layers if one.bias is not None and one.bias.constant and one.place not in told_already)
    found = [one for one in others if one.data.step is not None and is_weight(subject, one.weight)]
    if found:
        name = found[0].bias.name if found[0].bias is not None else ""
        layers = counted(len(found), "layer with quantized input and weight has", "layers with quantized input and weight have")
        yield subject.problem(found[0].place, f"{layers} a float bias, first '{name}'", "int32 where a runtime wants integers only")
