"""Scales, zero points or weights can change at run time.

**Why it matters**: initializers that are also graph inputs, as files of ``ir_version`` 3 must list them and old exporters still do, may be
overridden by a caller, so no runtime may build on their values: ONNX Runtime 1.32 folds nothing of them, and computes a Conv with an int32
bias in float (seen in its optimized models). Scales that are computed are fine in ONNX Runtime, but TensorRT, QNN, Core ML and tract want
constants. Reported once for a model and kind. Dynamic quantization (DynamicQuantizeLinear), and scales that are quantized themselves,
are as they should be.

**Bad**: ``x_scale`` among the inputs of the graph

**Good**: ``x_scale`` an initializer only

**Fix**: take initializers off the list of inputs (``onnxruntime.tools.remove_initializer_from_input`` does it).
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.expressions import Expr, is_const
from qdqtool.findings import Problem
from qdqtool.linting.pairs import is_step
from qdqtool.linting.subject import Subject
from qdqtool.linting.words import counted
from qdqtool.model.graph import Place

CODE = "QDQ311"
SEVERITY = "warning"
STAGE = "graph"


def check(subject: Subject) -> Iterator[Problem]:
    overridable: dict[str, Place] = {}
    computed: dict[str, Place] = {}
    for place, lifted in subject.steps.items():
        step, node, scope = lifted.step, subject.node(place), subject.scope(place)
        for slot, expr in zip(lifted.source.order, (step.x, step.scale, step.zero_point), strict=True):
            if expr is None or is_const(expr):
                continue
            found = subject.view.find(scope, node.input[slot])
            if found is not None and found.kind == "input" and node.input[slot] in subject.view.scopes[found.key.scope].initializers:
                overridable.setdefault(node.input[slot], place)
            elif slot != lifted.source.order[0] and _computed(subject, place, slot, step.x):
                computed.setdefault(node.input[slot], place)
    yield from _problems(subject, overridable, computed)


def _problems(subject: Subject, overridable: dict[str, Place], computed: dict[str, Place]) -> Iterator[Problem]:
    if overridable:
        name, place = next(iter(overridable.items()))
        parameters = counted(
            len(overridable), "scale, zero point or weight is a graph input", "scales, zero points and weights are graph inputs"
        )
        message = f"{parameters} with a default, which callers may replace, first '{name}'"
        yield subject.problem(place, message, "take it off the list of inputs", about="overridable")
    if computed:
        name, place = next(iter(computed.items()))
        parameters = counted(len(computed), "scale or zero point is", "scales and zero points are")
        message = f"{parameters} computed at run time, first '{name}'"
        yield subject.problem(place, message, "many runtimes want constants", about="computed", severity="info")


def _computed(subject: Subject, place: Place, slot: int, x: Expr) -> bool:
    """By nodes that are no quantization of the scale itself, and not dynamic quantization."""
    maker = subject.producer(place, slot)
    if maker is None or is_step(subject, maker, "dequantize"):
        return False
    return subject.node(maker).op_type != "DynamicQuantizeLinear" and (subject.steps[place].step.meaning.kind == "quantize" or is_const(x))
