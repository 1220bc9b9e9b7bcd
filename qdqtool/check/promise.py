"""What the rewrites promise for the whole model, and what a difference there means under that promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from onnx import ModelProto

from qdqtool.check.compare import Comparison
from qdqtool.check.halves import halves
from qdqtool.check.probe import Probe, Rounded
from qdqtool.check.replay import Replayed
from qdqtool.exactness import Exactness

# Shares of the output's maximum that rounding alone does not reach, used only where a replay could not tell: with
# quantization, where a tie that falls otherwise is a whole step; with float16; with neither.
_STEPS, _HALVES, _ULPS = 0.02, 0.01, 1e-4
_QUANTIZING = frozenset(("QuantizeLinear", "DynamicQuantizeLinear", "FakeQuantize", "Round", "Floor", "Ceil", "Cast"))


@dataclass(frozen=True, slots=True)
class Promise:
    """The weakest class among the rewrites; values that the runtime's float16 may blur; what rounding can explain."""

    exactness: Exactness
    float16: frozenset[str]
    quantizes: bool = True

    def implausible(self, value: str) -> float:
        """The share of its maximum by which rounding alone does not move a value."""
        return _STEPS if self.quantizes else _HALVES if value in self.float16 else _ULPS


def promised(model: ModelProto, probes: Sequence[Probe], rounded: Sequence[Rounded] = ()) -> Promise:
    """The promise for a model whose rewritten steps are these, and in which these nodes are rounded otherwise."""
    classes = [probe.exactness for probe in probes] + ([Exactness.ROUNDING] if rounded else [])
    quantizes = any(node.op_type in _QUANTIZING for body in (model.graph, *model.functions) for node in body.node)
    return Promise(max(classes, default=Exactness.BIT_EQUAL), halves(model), quantizes)


def cleared(promise: Promise, comparison: Comparison, replayed: Replayed) -> Comparison:
    """A difference that no step is to blame for: rounding within its bounds, the runtime's float16, or the sign of a zero."""
    difference = comparison.difference
    if comparison.verdict == "equal":
        return comparison
    if any(c.verdict == "not checked" for c in replayed.comparisons):
        return by_steps(promise, comparison, "not everything could be replayed")
    if promise.exactness >= Exactness.ROUNDING:
        reason = f"{difference}; each step keeps its bound on the original's values, all else is equal"
        return replace(comparison, verdict="within bound", reason=reason)
    if comparison.value in promise.float16:
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
    if promise.exactness < Exactness.ROUNDING and comparison.value not in promise.float16:
        return replace(comparison, reason=f"{difference}; {why}")
    if difference.of_maximum >= promise.implausible(comparison.value):
        return replace(comparison, verdict="different", reason=f"{difference}; more than rounding explains; {why}")
    return replace(comparison, verdict="within bound", reason=f"{difference}; judged by its steps; {why}")
