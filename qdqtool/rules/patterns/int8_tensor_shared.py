"""Of the int8 tensors on both sides of a Conv, one is read once and one several times.

**Why it matters**: on x86-64, ONNX Runtime turns int8 activations into uint8 for its faster kernels, but only tensors with a single reader.
A Conv between one that was turned and one that was not has no kernel, and is computed in float. Residual connections do that: of 52
convolutions of an int8 MobileNetV2, 15 stayed in float (seen in the optimized model of 1.32); its uint8 twin, with 128 added to zero
points, has 52 QLinearConv, gives the same results and takes two thirds of the time. A dequantize for each reader does not help.

**Bad**: ``Conv -> QuantizeLinear(int8) -> DequantizeLinear -> Conv and Add``

**Good**: the same in uint8

**Fix**: quantize activations to uint8 for x86-64 (weights may stay int8). On ARM, int8 is right.

**Runtimes**: ONNX Runtime on x86-64; for others nothing is reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool import dtypes
from qdqtool.findings import Problem
from qdqtool.linting.pairs import is_step
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place

CODE = "QDQ319"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    for layer in subject.layers:
        step = layer.data.step
        if step is None or subject.steps[step].storage is not dtypes.INT8 or subject.obstacles.get(layer.place) != "":
            continue
        before, after = subject.makers[step], _quantize(subject, layer.place)
        readers = [_readers(subject, side) if side is not None else 0 for side in (before, after)]
        if 0 not in readers and (readers[0] > 1) != (readers[1] > 1):
            sides = ("input", "output") if readers[0] > 1 else ("output", "input")
            message = f"computed in float on x86-64: the int8 {sides[0]} has {max(readers)} readers, the {sides[1]} one"
            yield subject.problem(layer.place, message, "uint8 activations: codes and zero points plus 128")


def _quantize(subject: Subject, place: Place) -> Place | None:
    """The quantize that an output goes into, perhaps through an activation function."""
    readers = subject.readers(place)
    if len(readers) == 1 and subject.node(readers[0].place).op_type in ("Relu", "Clip"):
        readers = subject.readers(readers[0].place)
    return readers[0].place if len(readers) == 1 and is_step(subject, readers[0].place, "quantize") else None


def _readers(subject: Subject, quantize: Place) -> int:
    """Of an int8 tensor, counted behind its dequantize nodes; 0 when it is none."""
    if not is_step(subject, quantize, "quantize") or subject.steps[quantize].storage is not dtypes.INT8:
        return 0
    found = [use.place for use in subject.readers(quantize)]
    return max(len(found), sum(len(subject.readers(p)) if is_step(subject, p, "dequantize") else 1 for p in found))
