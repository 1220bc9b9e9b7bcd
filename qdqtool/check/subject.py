"""A model under check: its file, and one folder from which ONNX Runtime can read all its external data."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from onnx import ModelProto

from qdqtool.model import external, tensors
from qdqtool.model.load import load
from qdqtool.model.walk import tensors as all_tensors


@dataclass(frozen=True, slots=True)
class Subject:
    """A model file; external data lies in the first of `folders` that has the file."""

    path: Path
    folders: tuple[Path, ...]

    def proto(self) -> ModelProto:
        """The model without its external data, read anew each time so that nobody holds it."""
        return load(self.path, self.folders[0]).proto

    def home(self, location: str) -> Path:
        """The folder that has a data file; the first one when none has."""
        return next((folder for folder in self.folders if (folder / location).exists()), self.folders[0])


@contextmanager
def data_folder(subject: Subject, locations: frozenset[str]) -> Iterator[Path]:
    """One folder with all data files: where they are, or, when they lie apart, a temporary one with hard links to them."""
    homes = {subject.home(location) for location in locations}
    if len(homes) <= 1:
        yield next(iter(homes), subject.path.parent)
        return
    with tempfile.TemporaryDirectory(prefix="qdqtool-", dir=subject.path.parent) as name:
        for location in sorted(locations):
            _gather((subject.home(location) / location).resolve(), Path(name) / location)
        yield Path(name)


def locations(model: ModelProto) -> frozenset[str]:
    """Names of all external data files."""
    return frozenset(external.location(tensor) for tensor in all_tensors(model) if external.is_external(tensor))


def constant_bytes(model: ModelProto) -> int:
    """Size of all tensors, inside and outside of the file."""
    return sum(tensors.nbytes(tensor) for tensor in model.graph.initializer)


def embedded(subject: Subject) -> ModelProto:
    """The model with its external data read into it."""
    return with_data(subject.proto(), subject)


def with_data(model: ModelProto, subject: Subject) -> ModelProto:
    """A copy of the subject's model, itself changed: its external data is read into it."""
    for tensor in all_tensors(model):
        if external.is_external(tensor):
            folder = subject.home(external.location(tensor))
            tensor.CopyFrom(tensors.make(tensor.name, tensors.array(tensor, folder)))
    return model


def _gather(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError):
        os.link(source, target)
        return
    shutil.copyfile(source, target)
