"""The end of a conversion or a fold: the result is staged, checked against the original, and only then published."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from qdqtool.check import CheckOptions, Probe, Report, Rounded, check
from qdqtool.comparison import Comparison
from qdqtool.errors import CheckFailed, Refused, Unreadable
from qdqtool.model import external, walk
from qdqtool.model.load import Loaded
from qdqtool.model.stage import Staged
from qdqtool.result import Result


class Ending(Protocol):
    """What a request says about its end."""

    @property
    def check(self) -> bool: ...

    @property
    def require_check(self) -> bool: ...

    @property
    def output(self) -> Path | None: ...

    @property
    def external_data(self) -> str | None: ...

    @property
    def options(self) -> CheckOptions: ...


@contextmanager
def located(model: str) -> Iterator[None]:
    """Errors about the model itself name its file first, as the user gave it; "" for one in memory."""
    try:
        yield
    except (Refused, CheckFailed, Unreadable) as error:
        error.where = ": ".join(filter(None, (model, error.where)))
        raise


@contextmanager
def original_file(loaded: Loaded, ending: Ending) -> Iterator[Path | None]:
    """The original as a file for the check; None when there is no check."""
    if not ending.check:
        yield None
    elif loaded.path is not None:
        yield loaded.path
    else:
        with tempfile.TemporaryDirectory(prefix="qdqtool-") as folder:
            path = Path(folder) / "original.onnx"
            path.write_bytes(loaded.proto.SerializeToString())
            yield path


@dataclass(frozen=True, slots=True)
class Delivered:
    """What the check found, what was written, and what happened beside."""

    check: Report | None = None
    elsewhere: Comparison | None = None
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


def deliver(
    result: Result,
    probes: Sequence[Probe],
    rounded: Sequence[Rounded],
    original: Path | None,
    ending: Ending,
    *,
    binding: bool = True,
) -> Delivered:
    """Check the result against `original` if there is one, and publish it if an output is asked for.

    CheckFailed when it differs; when the check is not `binding`, its report says so and no more.
    """
    if original is None and ending.output is None:
        return Delivered()
    with _place(result, ending) as path:
        staged = result.stage(path, ending.external_data)
        try:
            report = elsewhere = None
            if original is not None:
                options = replace(ending.options, base_dir=result.loaded.base_dir, rounded=tuple(rounded))
                report = check(original, staged.model, probes, options=options)
                report = _passed(report, required=ending.require_check) if binding else report
                elsewhere = _elsewhere(original, staged.model, report, options, required=ending.require_check)
            return _published(staged, report, elsewhere, ending) if ending.output is not None else Delivered(report, elsewhere)
        finally:
            staged.discard()


def _elsewhere(original: Path, rewritten: Path, report: Report, options: CheckOptions, *, required: bool) -> Comparison | None:
    """The original in ONNX Runtime against the result in the runtimes asked for; CheckFailed where only the result parts there."""
    if not options.elsewhere and options.python is None:
        return None
    from qdqtool import comparing  # the comparison needs the linter
    from qdqtool.check.subject import Subject

    home = (options.base_dir or original.parent).absolute()
    subjects = Subject(original.absolute(), (home,)), Subject(rewritten.absolute(), (rewritten.parent.absolute(), home))
    request = comparing.Request(options.elsewhere or ("ort",), options.python, False, options)
    found = comparing.compare(*subjects, request)
    parted = found.verdict in ("different", "fusion") and comparing.compare(subjects[0], None, request).verdict not in (
        "different",
        "fusion",
    )
    if parted or (required and found.verdict == "not compared"):
        raise CheckFailed(f"the rewritten model {_parted(found)}; nothing was written", report, hint="qdqtool compare tells more")
    return found


def _parted(found: Comparison) -> str:
    run = found.worst
    if found.first is None:
        return f"is {run.verdict} in {run.second}: {'; '.join(run.notes)}"
    return f"differs from the original in {run.second}, first at {found.first.where}: {'; '.join(found.first.reasons)}"


def _published(staged: Staged, report: Report | None, elsewhere: Comparison | None, ending: Ending) -> Delivered:
    model = staged.publish()
    files = (model, *(model.parent / name for name in staged.data_files))
    gone = [name for name in staged.replaced if not (model.parent / name).exists()]
    notes = [f"{name}, which no model here refers to any more, was removed" for name in gone]
    if staged.stand_in:
        notes.insert(0, f"{ending.external_data} was there already; the data went to {staged.stand_in}")
    return Delivered(report, elsewhere, files, tuple(notes))


@contextmanager
def _place(result: Result, ending: Ending) -> Iterator[Path]:
    """Where to stage: beside the output, else beside the data, else in a temporary folder."""
    base_dir = result.loaded.base_dir
    with tempfile.TemporaryDirectory(prefix="qdqtool-") as folder:
        if ending.output is not None:
            yield ending.output
        elif base_dir is not None and any(external.is_external(t) for t in walk.tensors(result.proto)):
            yield base_dir / "qdqtool-check.onnx"
        else:
            yield Path(folder) / "result.onnx"


def _passed(report: Report, *, required: bool) -> Report:
    if report.verdict == "different":
        message, hint = "the rewritten model differs from the original; nothing was written", "please report this with the model"
        raise CheckFailed(message, report, hint=hint)
    if required and not report.complete:
        message, hint = "the check was required but could not be completed; nothing was written", "leave out --require-check"
        raise CheckFailed(message, report, why=report.reason or str(report.unchecked[0]), hint=hint)
    return report
