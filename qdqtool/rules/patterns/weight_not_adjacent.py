"""An operator that moves elements stands between the dequantize of a weight and the layer it is for.

**Why it matters**: fusion looks for ``DequantizeLinear -> Conv``. What ONNX Runtime 1.32 makes of a quantized layer was looked up in its
optimized models: Reshape, Squeeze and Unsqueeze before a Conv, Reshape and Transpose before a MatMul leave the layer in float (Transpose
becomes part of a float FusedMatMul). Transpose, Cast and Identity before a Conv do no harm there; other compilers want the dequantize
directly before the layer.

**Bad**: ``MatMul(x, Transpose(DequantizeLinear(w, s)))``

**Good**: ``MatMul(x, DequantizeLinear(w_transposed, s))``

**Fix**: store the weight in the order in which the layer wants it, with the channel axis of its scales moved along.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.findings import Problem, Severity
from qdqtool.linting.layers import Layer, is_weight
from qdqtool.linting.scales import operand_name
from qdqtool.linting.subject import Subject

CODE = "QDQ306"
SEVERITY = "warning"
STAGE = "graph"

HARMLESS = {"Conv": ("Cast", "Identity", "Transpose"), "ConvTranspose": ("Cast", "Identity", "Transpose")}
"""What ONNX Runtime looks through; Cast and Identity for every layer."""


def check(subject: Subject) -> Iterator[Problem]:
    for layer in subject.layers:
        step = layer.weight.step
        if step is None or not layer.weight.between or not is_weight(subject, layer.weight):
            continue
        ops = [subject.node(p).op_type for p in layer.weight.between]
        name = operand_name(subject, step, 0)
        verb = "stand" if len(ops) > 1 else "stands"
        message = f"{' and '.join(reversed(ops))} {verb} between the dequantize of weight '{name}' and {layer.op}"
        hint = "store the weight in the order the layer wants"
        yield subject.problem(layer.place, message, hint, about=name, severity=_severity(layer, ops))


def _severity(layer: Layer, ops: list[str]) -> Severity:
    """Only a layer with quantized input loses an integer kernel."""
    harmless = HARMLESS.get(layer.op, ("Cast", "Identity"))
    return "warning" if layer.data.step is not None and not set(ops) <= set(harmless) else "info"
