"""The end of a conversion: the result is staged, checked against the original, and only then published."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from qdqtool.check import CheckOptions, Probe, Report, Rounded, check
from qdqtool.conversion import Conversion
from qdqtool.errors import CheckFailed
from qdqtool.model import external, walk
from qdqtool.model.load import Loaded
from qdqtool.request import Request


@contextmanager
def original_file(loaded: Loaded, request: Request) -> Iterator[Path | None]:
    """The original as a file for the check; None when there is no check."""
    if not request.check:
        yield None
    elif loaded.path is not None:
        yield loaded.path
    else:
        with tempfile.TemporaryDirectory(prefix="qdqtool-") as folder:
            path = Path(folder) / "original.onnx"
            path.write_bytes(loaded.proto.SerializeToString())
            yield path


def deliver(conversion: Conversion, probes: Sequence[Probe], rounded: Sequence[Rounded], original: Path | None, request: Request) -> None:
    """Check the result against `original` if there is one, and publish it if an output is asked for; CheckFailed when it differs."""
    if original is None and request.output is None:
        return
    with _place(conversion, request) as path:
        staged = conversion.stage(path, request.external_data)
        try:
            if original is not None:
                options = replace(request.options, base_dir=_loaded(conversion).base_dir, rounded=tuple(rounded))
                conversion.check = _checked(original, staged.model, probes, options, required=request.require_check)
            if request.output is not None:
                model = staged.publish()
                conversion.files = (model, *(model.parent / name for name in staged.data_files))
                gone = [name for name in staged.replaced if not (model.parent / name).exists()]
                conversion.notes += tuple(f"{name}, which no model here refers to any more, was removed" for name in gone)
        finally:
            staged.discard()


def _loaded(conversion: Conversion) -> Loaded:
    assert conversion._loaded is not None
    return conversion._loaded


@contextmanager
def _place(conversion: Conversion, request: Request) -> Iterator[Path]:
    """Where to stage: beside the output, else beside the data, else in a temporary folder."""
    base_dir = _loaded(conversion).base_dir
    with tempfile.TemporaryDirectory(prefix="qdqtool-") as folder:
        if request.output is not None:
            yield request.output
        elif base_dir is not None and any(external.is_external(t) for t in walk.tensors(conversion._proto)):
            yield base_dir / "qdqtool-check.onnx"
        else:
            yield Path(folder) / "result.onnx"


def _checked(original: Path, result: Path, probes: Sequence[Probe], options: CheckOptions, *, required: bool) -> Report:
    report = check(original, result, probes, options=options)
    if report.verdict == "different":
        message, hint = "the rewritten model differs from the original; nothing was written", "please report this with the model"
        raise CheckFailed(message, report, hint=hint)
    if required and not report.complete:
        message, hint = "the check was required but could not be completed; nothing was written", "leave out --require-check"
        raise CheckFailed(message, report, hint=hint)
    return report
