"""One run of a whole model, by either judge; nothing of the model is held afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from onnx import ModelProto

from qdqtool.check import sessions
from qdqtool.check.evaluator import Evaluator
from qdqtool.check.sessions import CannotRun, Setting, Value
from qdqtool.check.subject import Subject, constant_bytes, data_folder, embedded, locations
from qdqtool.kernels.sources import Array

Inputs = dict[str, Array]
Values = dict[str, Value]

_LARGEST_FOR_EVALUATOR = 1 << 28


def in_runtime(subject: Subject, setting: Setting, trials: Iterable[Inputs], wanted: Sequence[str]) -> tuple[Inputs, Values]:
    """Run the file in ONNX Runtime with the first inputs that it accepts.

    Raises
    ------
    CannotRun
        It does not load, or runs with none of the inputs; the reason is that of the first.
    """
    files = locations(subject.proto())
    with data_folder(subject, files) as folder, sessions.session(subject.path, setting, data=folder if files else None) as opened:
        return _first(lambda inputs: sessions.run(opened, inputs, wanted), trials)


def copy_in_runtime(model: ModelProto, subject: Subject, setting: Setting, inputs: Inputs, wanted: Sequence[str]) -> Values:
    """Run a changed copy of the model, its data still in the subject's folders.

    Raises
    ------
    CannotRun
        It does not load or run.
    """
    files = locations(model)
    with (
        data_folder(subject, files) as folder,
        sessions.session(model.SerializeToString(), setting, data=folder if files else None) as opened,
    ):
        return sessions.run(opened, inputs, wanted)


def in_evaluator(subject: Subject, trials: Iterable[Inputs], wanted: Sequence[str]) -> tuple[Inputs, Values]:
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


def _first(run: Callable[[Inputs], Values], trials: Iterable[Inputs]) -> tuple[Inputs, Values]:
    reason: CannotRun | None = None
    for inputs in trials:
        try:
            return inputs, run(inputs)
        except CannotRun as error:
            reason = reason or error
    raise reason or CannotRun("no inputs")
