"""One run of a whole model, by either judge; nothing of the model is held afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import tee
from pathlib import Path

from onnx import ModelProto

from qdqtool.check import pieces, sessions
from qdqtool.check.evaluator import Evaluator
from qdqtool.check.segments import Cuts
from qdqtool.check.sessions import CannotRun, Setting, Value
from qdqtool.check.subject import Subject, constant_bytes, data_folder, embedded, locations
from qdqtool.kernels.sources import Array

Inputs = dict[str, Array]
Values = dict[str, Value]

_LARGEST_FOR_EVALUATOR = 1 << 28


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run gave, and for which inputs; `note` says why a large model was not run in pieces after all."""

    inputs: Inputs
    values: Values
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Job:
    """A model, the same as a file, the folder of its external data, and what to do with it."""

    model: Callable[[], ModelProto]
    file: Callable[[], Path | bytes]
    data: Path | None
    setting: Setting
    wanted: Sequence[str]
    cuts: Cuts


def in_runtime(subject: Subject, setting: Setting, trials: Iterable[Inputs], wanted: Sequence[str], cuts: Cuts = ()) -> Ran:
    """Run the file in ONNX Runtime with the first inputs that it accepts; with `cuts`, in pieces.

    Raises
    ------
    CannotRun
        It does not load, or runs with none of the inputs; the reason is that of the first.
    """
    files = locations(subject.proto())
    with data_folder(subject, files) as folder:
        job = _Job(subject.proto, lambda: subject.path, folder if files else None, setting, wanted, cuts)
        if cuts and files:
            _load(job)
        return _run(job, trials)


def copy_in_runtime(
    model: ModelProto, subject: Subject, setting: Setting, inputs: Inputs, wanted: Sequence[str], cuts: Cuts = ()
) -> Values:
    """Run a changed copy of the model, its data still in the subject's folders; with `cuts`, in pieces.

    Raises
    ------
    CannotRun
        It does not load or run.
    """
    files = locations(model)
    with data_folder(subject, files) as folder:
        job = _Job(lambda: model, model.SerializeToString, folder if files else None, setting, wanted, cuts)
        return _run(job, [inputs]).values


def _load(job: _Job) -> None:
    """The whole, which no piece vouches for; external data costs nothing before it is read."""
    with sessions.session(job.file(), job.setting, data=job.data):
        pass


def _run(job: _Job, trials: Iterable[Inputs]) -> Ran:
    """When pieces fail, one session is to say why, or to do better."""
    trials, again = tee(trials)
    note = ""
    if job.cuts:
        try:
            return _first(lambda inputs: pieces.run(job.model(), job.cuts, job.data, job.setting, inputs, job.wanted), trials)
        except CannotRun as error:
            note = f"run in one session, since its pieces do not run: {error}"
    with sessions.session(job.file(), job.setting, data=job.data) as opened:
        return replace(_first(lambda inputs: sessions.run(opened, inputs, job.wanted), again), note=note)


def in_evaluator(subject: Subject, trials: Iterable[Inputs], wanted: Sequence[str]) -> Ran:
    """Run the model in our evaluator, if it is small enough.

    Raises
    ------
    CannotRun
        It is too large, an operator is unknown there, or it runs with none of the inputs.
    """
    if constant_bytes(subject.proto()) > _LARGEST_FOR_EVALUATOR:
        raise CannotRun(f"the evaluator takes models of up to {_LARGEST_FOR_EVALUATOR >> 20} MiB")
    evaluator = Evaluator(embedded(subject))
    return _first(lambda inputs: evaluator.run(inputs, wanted), trials)


def _first(run: Callable[[Inputs], Values], trials: Iterable[Inputs]) -> Ran:
    reason: CannotRun | None = None
    for inputs in trials:
        try:
            return Ran(inputs, run(inputs))
        except CannotRun as error:
            reason = reason or error
    raise reason or CannotRun("no inputs")
