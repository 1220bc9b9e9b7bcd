"""Step level: every rewritten step, original against replacement, on stimuli made for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import chain

import numpy as np
import onnx.checker
import onnx.shape_inference

from qdqtool.check import sessions
from qdqtool.check.bulk import Entry, batches, entry, joined, marked
from qdqtool.check.compare import Comparison, worst
from qdqtool.check.evaluator import Evaluator
from qdqtool.check.fragments import as_model
from qdqtool.check.outcome import outcome
from qdqtool.check.probe import Fragment, Probe
from qdqtool.check.sessions import CannotRun, Setting, Value
from qdqtool.check.shapes import Shapes, candidates
from qdqtool.check.stimuli import Inputs, at_carrier, stimuli

RUNTIME = "ONNX Runtime"
EVALUATOR = "evaluator only"

Runner = Callable[[Inputs], dict[str, Value]]
Opener = Callable[[Fragment], AbstractContextManager[Runner]]


class _Apart(Exception):
    """Steps that were run together must be run one by one, to see which of them fails."""


def check_steps(probes: Sequence[Probe], setting: Setting, seed: int) -> list[Comparison]:
    """One comparison for each probe, by ONNX Runtime, or by our evaluator when that lacks a kernel for either side."""
    first: dict[tuple[bytes, bytes], int] = {}
    same: dict[int, int] = {}

    def distinct() -> Iterator[Entry]:
        for index, probe in enumerate(probes):
            made = entry(index, probe)
            same[index] = first.setdefault((made.form, made.contents), index)
            if same[index] == index:
                yield made

    found: dict[int, Comparison] = {}
    for batch in batches(distinct()):
        found.update(zip((each.index for each in batch), check_together([each.probe for each in batch], setting, seed), strict=True))
    return [replace(found[same[index]], where=probe.place) for index, probe in enumerate(probes)]


def check_together(probes: Sequence[Probe], setting: Setting, seed: int) -> list[Comparison]:
    """Judge probes of one form; "not checked" when neither judge runs them."""
    reasons = []
    judges: tuple[tuple[str, Opener], ...] = ((RUNTIME, lambda made: _in_runtime(made, setting)), (EVALUATOR, _in_evaluator))
    for judge, opened in judges:
        try:
            return _judged(probes, opened, judge, seed)
        except CannotRun as error:
            reasons.append(f"{judge}: {error}")
        except _Apart:
            break
    if len(probes) > 1:
        return [check_together([probe], setting, seed)[0] for probe in probes]
    (probe,) = probes
    if (fault := _invalid(probe.after)) and not _invalid(probe.before):
        return [Comparison(probe.place, "different", None, EVALUATOR, f"the replacement is not valid: {fault}")]
    return [Comparison(probe.place, "not checked", None, "", "; ".join(reasons))]


@contextmanager
def _in_runtime(fragment: Fragment, setting: Setting) -> Iterator[Runner]:
    wanted = [port.name for port in fragment.outputs]
    with sessions.session(as_model(fragment).SerializeToString(), replace(setting, threads=1)) as opened:
        yield lambda inputs: sessions.run(opened, inputs, wanted)


@contextmanager
def _in_evaluator(fragment: Fragment) -> Iterator[Runner]:
    evaluator, wanted = Evaluator(as_model(fragment)), [port.name for port in fragment.outputs]
    yield lambda inputs: evaluator.run(inputs, wanted)


def _judged(probes: Sequence[Probe], opened: Opener, judge: str, seed: int) -> list[Comparison]:
    with opened(joined([p.before for p in probes])) as before, opened(joined([p.after for p in probes])) as after:
        runs, olds = _runs(probes, before, seed)
        results = []
        for draws in runs:
            old = olds or before(_together(draws))
            olds = {}
            try:
                new = after(_together([at_carrier(inputs, probe) for inputs, probe in zip(draws, probes, strict=True)]))
            except CannotRun as error:
                if error.missing:
                    raise
                if len(probes) > 1:
                    raise _Apart from None
                return [Comparison(probes[0].place, "different", None, judge, f"the replacement does not run: {error}")]
            results.append([_outcome(number, probe, draws[number], old, new) for number, probe in enumerate(probes)])
    return [Comparison(probe.place, *worst(list(each)), judge) for probe, each in zip(probes, zip(*results, strict=True), strict=True)]
