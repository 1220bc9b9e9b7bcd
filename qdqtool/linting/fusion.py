"""Whether ONNX Runtime 1.32 makes an integer convolution of a quantized one, as its optimized models show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdqtool import dtypes
from qdqtool.linting.layers import Layer, is_weight
from qdqtool.linting.pairs import is_step
from qdqtool.linting.ranges import given, of_step
from qdqtool.model.graph import Place, Use

if TYPE_CHECKING:
    from qdqtool.linting.subject import Subject


def _in_integers(subject: Subject, layer: Layer) -> bool:
    """By 8-bit steps, as ONNX Runtime's integer kernel wants them."""
    steps = (layer.data.step, layer.weight.step)
    if not layer.data.direct or not layer.weight.direct or not is_weight(subject, layer.weight) or is_weight(subject, layer.data):
        return False
    meanings = [subject.steps[s].step.meaning for s in steps if s is not None]
    return all(m.storage in (dtypes.INT8, dtypes.UINT8) and m.expressed is dtypes.FLOAT for m in meanings)


def applies(subject: Subject) -> bool:
    """ONNX Runtime is in force, of which alone this is known."""
    return subject.profile is None or subject.profile.name == "ort"


def obstacles_of(subject: Subject) -> dict[Place, str]:
    """For each Conv with quantized input and weight, why no integer kernel can take it; empty when one can. Nothing for other runtimes."""
    if not applies(subject):
        return {}
    return {layer.place: _obstacle(subject, layer.place) for layer in subject.layers if layer.op == "Conv" and _in_integers(subject, layer)}


def _obstacle(subject: Subject, place: Place) -> str:
    readers = subject.readers(place)
    if _is_result(subject, place):
        return "is an output of the graph" if not readers else "is also an output of the graph"
    if len(readers) != 1:
        return f"has {len(readers)} readers" if readers else ""
    return _next(subject, readers[0], [])


def _next(subject: Subject, use: Use, passed: list[Place]) -> str:
    if is_step(subject, use.place, "quantize"):
        storage = subject.steps[use.place].storage
        if storage not in (dtypes.INT8, dtypes.UINT8, None):
            return f"goes into a quantize to {storage}"
        return _cut(subject, use.place, passed[0]) if passed else ""
    op = subject.node(use.place).op_type
    readers = subject.readers(use.place) if op in ("Relu", "Clip") and not passed else []
    if len(readers) == 1 and is_step(subject, readers[0].place, "quantize"):
        return _next(subject, readers[0], [use.place])
    return f"goes to {op}"


def _cut(subject: Subject, quantize: Place, activation: Place) -> str:
    """The codes reach beyond what the activation function lets through, so that it cannot be left to them."""
    codes, passed = of_step(subject, quantize), given(subject, activation)
    if codes is None or passed is None or (passed[0] <= codes[0] and codes[1] <= passed[1] * 1.0001):
        return ""
    op, low, high = subject.node(activation).op_type, *codes
    return f"goes through {op} into codes that reach further ({low:.4g} to {high:.4g})"


def _is_result(subject: Subject, place: Place) -> bool:
    found = subject.view.find(subject.scope(place), subject.node(place).output[0])
    return found is not None and found.key in subject.view.results
