"""One input of an otherwise quantized operator is float.

**Why it matters**: an integer kernel needs all of them. With one left out, ONNX Runtime 1.32 computes Conv, Gemm, MatMul, Add, Mul and
Concat in float between dequantize and quantize (seen in its optimized models): the work of quantizing is done, the gain is not. The float
input is often a constant that the quantizer passed over. The float result of a quantized layer is left so on purpose for TensorRT, which
adds it up within the layer, and is an info.

**Bad**: ``Add(DequantizeLinear(q), constant) -> QuantizeLinear``

**Good**: ``Add(DequantizeLinear(q), DequantizeLinear(constant_q)) -> QuantizeLinear``

**Fix**: quantize that input too, or none.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.expressions import is_const
from qdqtool.findings import Problem
from qdqtool.linting.pairs import is_step
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place

CODE = "QDQ309"
SEVERITY = "warning"
STAGE = "graph"

ALL = 1 << 20
INPUTS = {"Conv": 2, "Gemm": 2, "MatMul": 2, "Add": 2, "Mul": 2, "Concat": ALL}
"""How many inputs must be quantized."""


def check(subject: Subject) -> Iterator[Problem]:
    operands = ((layer.place, o) for layer in subject.layers for o in (layer.data, layer.weight))
    traced = {(place, operand.slot) for place, operand in operands if operand.step is not None}
    layers = {layer.place for layer in subject.layers if layer.data.step is not None and layer.weight.step is not None}
    for op, count in INPUTS.items():
        for place in (p for p in subject.nodes(op) if _goes_into_quantize(subject, p)):
            slots = range(len(subject.node(place).input[:count]))
            left = [s for s in slots if (place, s) not in traced and not is_step(subject, subject.producer(place, s), "dequantize")]
            if left and len(left) < len(slots):
                yield _problem(subject, place, left, len(slots), subject.producer(place, left[0]) in layers)


def _problem(subject: Subject, place: Place, left: list[int], slots: int, on_purpose: bool) -> Problem:
    node = subject.node(place)
    name = node.input[left[0]]
    what = "constant " if is_const(subject.constants.expression(subject.scope(place), name)) else ""
    message = f"{len(left)} of {slots} inputs of {node.op_type} {'is' if len(left) == 1 else 'are'} not quantized: {what}'{name}'"
    return subject.problem(place, message, "quantize that input too", about=name, severity="info" if on_purpose else "warning")


def _goes_into_quantize(subject: Subject, place: Place) -> bool:
    readers = subject.readers(place)
    return bool(readers) and all(is_step(subject, use.place, "quantize") for use in readers)
