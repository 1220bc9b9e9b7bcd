"""What the rewrites promise for the whole model, and what a difference there means under that promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from onnx import ModelProto, TensorProto

from qdqtool.check.compare import Comparison
from qdqtool.check.probe import Probe, Rounded
from qdqtool.check.replay import Replayed
from qdqtool.exactness import Exactness
from qdqtool.model.walk import tensors

# A share of the output's maximum that rounding alone does not reach; used only where a replay could not tell.
_IMPLAUSIBLE = 0.02


@dataclass(frozen=True, slots=True)
class Promise:
    """The weakest class among the rewrites; whether the runtime's float16 may blur it."""

    exactness: Exactness
    float16: bool


def promised(model: ModelProto, probes: Sequence[Probe], rounded: Sequence[Rounded] = ()) -> Promise:
    """The promise for a model whose rewritten steps are these, and in which these nodes are rounded otherwise."""
    classes = [probe.exactness for probe in probes] + ([Exactness.ROUNDING] if rounded else [])
    return Promise(max(classes, default=Exactness.BIT_EQUAL), _has_float16(model))


def cleared(promise: Promise, comparison: Comparison, replayed: Replayed) -> Comparison:
    """A difference that no step is to blame for: rounding within its bounds, the runtime's float16, or the sign of a zero."""
    difference = comparison.difference
    if comparison.verdict == "equal":
        return comparison
    if any(c.verdict == "not checked" for c in replayed.comparisons):
        return by_steps(promise, comparison, f"{replayed.left_out} steps could not be replayed")
    if promise.exactness >= Exactness.ROUNDING:
        reason = f"{difference}; each step keeps its bound on the original's values, all else is equal"
        return replace(comparison, verdict="within bound", reason=reason)
    if promise.float16:
        reason = f"{difference}; ONNX Runtime keeps float32 between float16 nodes: equal when each step gets the original's values"
        return replace(comparison, verdict="equal", reason=reason)
    if promise.exactness is Exactness.VALUE_EQUAL:
        return replace(
            comparison, verdict="equal", reason=f"{difference}; every step is value-equal: only the sign of a zero can have caused it"
        )
    return comparison


def by_steps(promise: Promise, comparison: Comparison, why: str) -> Comparison:
    """A difference without a replay: left to the step level if the promise allows one, unless it is more than rounding explains."""
    difference = comparison.difference
    if difference is None or comparison.verdict == "equal":
        return comparison
    if promise.exactness < Exactness.ROUNDING and not promise.float16:
        return replace(comparison, reason=f"{difference}; {why}")
    if difference.of_maximum >= _IMPLAUSIBLE:
        return replace(comparison, verdict="different", reason=f"{difference}; more than rounding explains; {why}")
    return replace(comparison, verdict="within bound", reason=f"{difference}; judged by its steps; {why}")


def _has_float16(model: ModelProto) -> bool:
    graph = model.graph
    declared = any(info.type.tensor_type.elem_type == TensorProto.FLOAT16 for info in (*graph.input, *graph.output, *graph.value_info))
    stored = any(tensor.data_type == TensorProto.FLOAT16 for tensor in tensors(model))
    return declared or stored or any(a.name == "to" and a.i == TensorProto.FLOAT16 for node in graph.node for a in node.attribute)
