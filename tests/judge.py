"""Is a converted model legal at its target, does it compute the same, has it lost anything? Knows nothing of how it was converted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import ModelProto

from qdqtool import dtypes as D
from qdqtool.exactness import Bound, Exactness
from tests.judging import runtime
from tests.judging.evaluator import evaluate
from tests.judging.feeds import feeds, graphs_of, nodes_of
from tests.judging.losses import lost
from tests.judging.same import compare, within
from tests.judging.validity import invalid, too_new

Array = np.ndarray[Any, np.dtype[Any]]
Outputs = list[list[Array]]
NEWEST_RUNNABLE = 27  # ONNX Runtime 1.32 has no kernels for Q and DQ at 28
NARROW = {D.FLOAT16.code, D.BFLOAT16.code}


@dataclass(frozen=True)
class Verdict:
    """`word` is exact, value, within, different, invalid, lost, unjudged or unrunnable; `by` says who ran the models."""

    word: str
    detail: str = ""
    by: str = ""

    def __str__(self) -> str:
        return f"{self.word}: {self.detail}" if self.detail else self.word


@dataclass
class Subject:
    """An original with its inputs, run once for each judge and then compared with many conversions."""

    model: ModelProto
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    seed: str = "judge"

    def __post_init__(self) -> None:
        self.feeds = feeds(self.model, self.shapes, self.seed)
        self.narrow = uses_narrow(self.model)
        self._outputs: dict[str, Outputs | Exception] = {}

    def outputs(self, by: str) -> Outputs | Exception:
        if by not in self._outputs:
            self._outputs[by] = run(self.model, self.feeds, by)
        return self._outputs[by]


def uses_narrow(model: ModelProto) -> bool:
    """Has float16 or bfloat16 values, whose roundings ONNX Runtime drops between nodes."""
    held = {t.data_type for g in graphs_of(model) for t in g.initializer} | {
        p.type.tensor_type.elem_type for p in (*model.graph.input, *model.graph.output)
    }
    typed = {a.i for n in nodes_of(model) for a in n.attribute if a.name in ("to", "output_dtype", "precision")}
    values = {a.t.data_type for n in nodes_of(model) for a in n.attribute if a.HasField("t")}
    return bool(NARROW & (held | typed | values))


def run(model: ModelProto, inputs: Sequence[Mapping[str, Array]], by: str) -> Outputs | Exception:
    """Outputs for each set of inputs, or why there are none."""
    try:
        if by == "evaluator":
            return [evaluate(model, f) for f in inputs]
        opened = runtime.session(model)
        return [runtime.run(model, opened, f) for f in inputs]
    except Exception as error:
        return error


def judge(
    subject: Subject,
    converted: ModelProto,
    target: int,
    exactness: Exactness = Exactness.BIT_EQUAL,
    *,
    bound: Bound | None = None,
    notes: Sequence[str] = (),
) -> Verdict:
    """Compare a conversion of `subject` to opset `target` that claims the class `exactness`."""
    problems = invalid(converted, target) or [p for p in [too_new(subject.model, converted, target)] if p]
    if problems:
        return Verdict("invalid", "; ".join(problems[:3]))
    same = _equal(subject, converted, target, exactness, bound)
    if same.word in ("different", "unjudged", "unrunnable"):
        return same
    gone = lost(subject.model, converted, notes)
    return Verdict("lost", "; ".join(gone[:4]), same.by) if gone else same


def _equal(subject: Subject, converted: ModelProto, target: int, exactness: Exactness, bound: Bound | None) -> Verdict:
    names = [[p.name for p in m.graph.output] for m in (subject.model, converted)]
    if names[0] != names[1]:
        return Verdict("different", f"outputs {names[1]} instead of {names[0]}")
    reasons = []
    for by in ["evaluator"] if subject.narrow or uses_narrow(converted) else ["runtime", "evaluator"]:
        expected = subject.outputs(by)
        actual = run(converted, subject.feeds, by) if not isinstance(expected, Exception) else expected
        if isinstance(expected, list) and isinstance(actual, list):
            return _verdict(expected, actual, exactness, bound, by)
        if by == "runtime" and isinstance(expected, list) and target <= NEWEST_RUNNABLE and "NOT_IMPLEMENTED" not in str(actual):
            return Verdict("unrunnable", str(actual)[:400], by)
        reasons.append(f"{by}: {actual}")
    return Verdict("unjudged", "; ".join(reasons)[:600])


def _verdict(expected: Outputs, actual: Outputs, exactness: Exactness, bound: Bound | None, by: str) -> Verdict:
    differences = [compare(e, a) for e, a in zip(expected, actual, strict=True)]
    worst = next((d for d in differences if d not in ("", "value")), max(differences, default=""))
    if worst == "":
        return Verdict("exact", by=by)
    if worst == "value":
        return (
            Verdict("value", by=by)
            if exactness >= Exactness.VALUE_EQUAL
            else Verdict("different", f"signs of zeros, but claimed {exactness}", by)
        )
    if exactness >= Exactness.ROUNDING and bound is not None and all(within(e, a, bound) for e, a in zip(expected, actual, strict=True)):
        return Verdict("within", worst, by)
    return Verdict("different", worst, by)
