"""Model level: both whole models on the same inputs, one after the other, all outputs compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from qdqtool.check.compare import Comparison, Difference, compare, weakest, worst
from qdqtool.check.generate import NoInputs, Wishes, generated
from qdqtool.check.given import given
from qdqtool.check.inside import inside
from qdqtool.check.options import CheckOptions
from qdqtool.check.probe import Probe
from qdqtool.check.promise import Promise, by_steps, cleared, promised
from qdqtool.check.randomness import random_outputs
from qdqtool.check.replay import replay
from qdqtool.check.runs import Inputs, Values, in_evaluator, in_runtime
from qdqtool.check.segments import LIMIT, Cuts, cuts
from qdqtool.check.sessions import CannotRun, Value
from qdqtool.check.signature import Signature, require_known, signature
from qdqtool.check.steps import EVALUATOR, RUNTIME
from qdqtool.check.subject import Subject
from qdqtool.exactness import Exactness


@dataclass(frozen=True, slots=True)
class ModelOutcome:
    """What the whole models said; `reason` tells why they were not compared, and is empty when they were.

    `replayed` holds the steps on the original's own values, where a difference called for it.
    """

    comparisons: tuple[Comparison, ...] = ()
    replayed: tuple[Comparison, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Task:
    original: Subject
    rewritten: Subject
    probes: Sequence[Probe]
    options: CheckOptions
    signature: Signature
    wanted: tuple[str, ...]
    promise: Promise
    cuts: Cuts


def check_model(original: Subject, rewritten: Subject, probes: Sequence[Probe], options: CheckOptions) -> ModelOutcome:
    """Compare all outputs that do not depend on random operators; by our evaluator where ONNX Runtime lacks a kernel.

    Raises
    ------
    Usage
        The inputs given do not fit the model.
    """
    model = original.proto()
    ports, random, promise = signature(model), random_outputs(model), promised(model, probes, options.rounded)
    require_known(ports, options.dims)
    at = cuts((model, rewritten.proto()))
    del model
    notes = tuple(f"output {name} was not compared: it depends on the random operator {cause}" for name, cause in random.items())
    wanted = tuple(name for name in ports.outputs if name not in random)
    if not wanted:
        return ModelOutcome(notes=notes, reason="every output depends on random operators" if random else "the model has no outputs")
    if options.rounded:
        notes += (f"equal up to rounding: ONNX Runtime adds up in another order in {', '.join(each.node for each in options.rounded)}",)
    if at:
        notes += (f"both models ran in {len(at) + 1} pieces, one after the other: their constants exceed {LIMIT >> 20} MiB",)
    outcome = _compared(_Task(original, rewritten, probes, options, ports, wanted, promise, at))
    return replace(outcome, notes=notes + outcome.notes)


def _compared(task: _Task) -> ModelOutcome:
    setting = task.options.setting
    try:
        old = in_runtime(task.original, setting, _trials(task), task.wanted, task.cuts)
    except NoInputs as error:
        return ModelOutcome(reason=str(error))
    except CannotRun as error:
        return _by_evaluator(task, f"ONNX Runtime does not run the original: {error}")
    try:
        new = in_runtime(task.rewritten, setting, [old.inputs], task.wanted, task.cuts)
    except CannotRun as error:
        return _by_evaluator(task, f"ONNX Runtime does not run the result: {error}") if error.missing else _broken(error, RUNTIME)
    comparisons, notes = _outputs(task, old.values, new.values, RUNTIME), tuple(dict.fromkeys(filter(None, (old.note, new.note))))
    if all(c.verdict == "equal" for c in comparisons):
        outcome = _inside(task, comparisons, old.inputs)
    else:
        outcome = _explained(task, comparisons, old.inputs)
    return replace(outcome, notes=notes + outcome.notes)


def _inside(task: _Task, outputs: tuple[Comparison, ...], inputs: Inputs) -> ModelOutcome:
    """Equal outputs, and values inside that are different; models in pieces are too large for that."""
    try:
        found = () if task.cuts else inside(task.original, task.rewritten, inputs, task.promise.exactness, task.options.setting)
    except CannotRun:
        found = ()
    if not found:
        return ModelOutcome(outputs)
    outcome = _explained(task, outputs + found, inputs)
    return replace(outcome, comparisons=outputs + tuple(c for c in outcome.comparisons[len(outputs) :] if c.verdict == "different"))


def _by_evaluator(task: _Task, reason: str) -> ModelOutcome:
    try:
        old = in_evaluator(task.original, _trials(task), task.wanted)
    except NoInputs as error:
        return ModelOutcome(reason=f"{reason}; {error}")
    except CannotRun as error:
        return ModelOutcome(reason=f"{reason}; evaluator: {error}")
    try:
        new = in_evaluator(task.rewritten, [old.inputs], task.wanted)
    except CannotRun as error:
        return ModelOutcome(reason=f"{reason}; evaluator: {error}") if error.missing else _broken(error, EVALUATOR)
    comparisons = tuple(
        by_steps(task.promise, c, "the evaluator replays nothing") for c in _outputs(task, old.values, new.values, EVALUATOR)
    )
    return ModelOutcome(comparisons, notes=(f"{reason}; both models were run by the evaluator instead",))


def _broken(error: CannotRun, judge: str) -> ModelOutcome:
    return ModelOutcome((Comparison("model", "different", None, judge, f"the result does not run: {error}"),))


def _explained(task: _Task, comparisons: tuple[Comparison, ...], inputs: Inputs) -> ModelOutcome:
    """Replay, which finds the step to blame or clears the difference."""
    try:
        replayed = replay(task.original, task.rewritten, task.probes, inputs, task.wanted, task.options, task.cuts)
    except CannotRun as error:
        return ModelOutcome(tuple(by_steps(task.promise, c, f"no replay: {error}") for c in comparisons))
    steps = replayed.comparisons
    if weakest(c.verdict for c in steps) == "different":
        blamed = next(c for c in steps if c.verdict == "different")
        note = f"the first to differ on the original's own values is {blamed}"
        return ModelOutcome(_each(comparisons, lambda c: replace(c, verdict="different")), steps, (note,))
    note = f"replayed on the original's own values: {len(steps)} values, none beyond its class"
    return ModelOutcome(_each(comparisons, lambda c: cleared(task.promise, c, replayed)), steps, (note,))


def _each(comparisons: tuple[Comparison, ...], change: Callable[[Comparison], Comparison]) -> tuple[Comparison, ...]:
    return tuple(c if c.verdict == "equal" else change(c) for c in comparisons)


def _trials(task: _Task) -> Iterator[Inputs]:
    arrays = given(task.options.inputs, task.signature.inputs) if task.options.inputs is not None else {}
    return generated(task.signature, Wishes(task.options.dims, arrays, task.options.seed))


def _outputs(task: _Task, old: Values, new: Values, judge: str) -> tuple[Comparison, ...]:
    return tuple(_output(name, old[name], new[name], task.promise.exactness, judge) for name in task.wanted)


def _output(name: str, old: Value, new: Value, exactness: Exactness, judge: str) -> Comparison:
    """Any difference counts here: what a bound allows is decided where its steps are known."""
    where = f"output {name}"
    if type(old) is not type(new) or (isinstance(old, list) and isinstance(new, list) and len(old) != len(new)):
        return Comparison(where, "different", None, judge, "it is of another kind or length")
    if old is None or new is None:
        return Comparison(where, "equal", Difference(), judge)
    pairs = list(zip(old, new, strict=True)) if isinstance(old, list) else [(old, new)]
    results = [compare(np.asarray(a), np.asarray(b), exactness=min(exactness, Exactness.VALUE_EQUAL)) for a, b in pairs]
    return Comparison(where, *worst(results), judge, value=name)
