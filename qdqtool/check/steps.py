"""Step level: every rewritten step, original against replacement, on stimuli made for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import numpy as np
import onnx.checker
import onnx.shape_inference

from qdqtool.check import sessions
from qdqtool.check.compare import Comparison, worst
from qdqtool.check.evaluator import Evaluator
from qdqtool.check.fragments import as_model
from qdqtool.check.outcome import outcome
from qdqtool.check.probe import Fragment, Probe
from qdqtool.check.sessions import CannotRun, Setting
from qdqtool.check.shapes import Shapes, candidates
from qdqtool.check.stimuli import Inputs, at_carrier, stimuli
from qdqtool.kernels.sources import Array

RUNTIME = "ONNX Runtime"
EVALUATOR = "evaluator only"

Runner = Callable[[Inputs], Array]
Opener = Callable[[Fragment], AbstractContextManager[Runner]]


def check_steps(probes: Sequence[Probe], setting: Setting, seed: int) -> list[Comparison]:
    """One comparison for each probe, by ONNX Runtime, or by our evaluator when that lacks a kernel for either side."""
    return [check_step(probe, setting, seed) for probe in probes]


def check_step(probe: Probe, setting: Setting, seed: int) -> Comparison:
    """Judge one probe; "not checked" when neither judge runs it."""

    @contextmanager
    def in_runtime(fragment: Fragment) -> Iterator[Runner]:
        with sessions.session(as_model(fragment).SerializeToString(), setting) as opened:
            yield lambda inputs: _only(sessions.run(opened, inputs, [fragment.outputs[0].name]))

    reasons = []
    judges: tuple[tuple[str, Opener], ...] = ((RUNTIME, in_runtime), (EVALUATOR, _in_evaluator))
    for judge, opened in judges:
        try:
            with opened(probe.before) as before, opened(probe.after) as after:
                return _compared(probe, before, after, judge, seed)
        except CannotRun as error:
            reasons.append(f"{judge}: {error}")
    if (fault := _invalid(probe.after)) and not _invalid(probe.before):
        return Comparison(probe.place, "different", None, EVALUATOR, f"the replacement is not valid: {fault}")
    return Comparison(probe.place, "not checked", None, "", "; ".join(reasons))


@contextmanager
def _in_evaluator(fragment: Fragment) -> Iterator[Runner]:
    evaluator = Evaluator(as_model(fragment))
    yield lambda inputs: _only(evaluator.run(inputs, [fragment.outputs[0].name]))


def _only(results: dict[str, sessions.Value]) -> Array:
    return np.asarray(next(iter(results.values())))


def _compared(probe: Probe, before: Runner, after: Runner, judge: str, seed: int) -> Comparison:
    shapes = _shapes(probe, before, seed)
    results = []
    for inputs in stimuli(probe, shapes, seed):
        old = before(inputs)
        try:
            new = after(at_carrier(inputs, probe))
        except CannotRun as error:
            if error.missing:
                raise
            return Comparison(probe.place, "different", None, judge, f"the replacement does not run: {error}")
        results.append(outcome(probe, inputs, old, new))
    verdict, difference = worst(results)
    return Comparison(probe.place, verdict, difference, judge)


def _shapes(probe: Probe, before: Runner, seed: int) -> Shapes:
    """The first shapes the original runs with."""
    reason = CannotRun("no shape of its inputs is known")
    for shapes in candidates(probe.before):
        try:
            before(next(stimuli(probe, shapes, seed)))
        except CannotRun as error:
            reason = error
        else:
            return shapes
    raise reason


def _invalid(fragment: Fragment) -> str:
    """What the schemas of onnx say against it; they know more than ONNX Runtime has kernels for, so they can arbitrate."""
    context = onnx.checker.C.CheckerContext()
    context.ir_version, context.opset_imports = onnx.IR_VERSION, dict(fragment.imports)
    try:
        for node in fragment.nodes:
            onnx.checker.check_node(node, context)
        onnx.shape_inference.infer_shapes(as_model(fragment), check_type=True, strict_mode=True)
    except Exception as error:
        return sessions.plain(str(error))
    return ""
