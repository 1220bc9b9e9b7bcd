"""The last step: a staged result takes its place, data files first, the .onnx by one rename last."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from qdqtool.errors import QdqtoolError
from qdqtool.model import disk
from qdqtool.model.workshop import Workshop, sweep


@dataclass(slots=True, eq=False)
class Staged:
    """A finished result in its staging folder.

    Attributes
    ----------
    model : Path
        The staged .onnx; all its data is beside it.
    data_files : tuple of str
        New data files, relative to the model; those that are only referred to are not among them.
    """

    out: Path
    model: Path
    data_files: tuple[str, ...]
    _workshop: Workshop = field(repr=False)
    _replaced: tuple[str, ...] = ()

    def publish(self) -> Path:
        """Put the result in its place; returns the path of the model."""
        journal = self._workshop.note([*self.data_files, *self._replaced])
        try:
            self._move()
        except OSError as error:
            raise QdqtoolError("write-failed", f"the result could not be put in its place as {self.out}", why=str(error)) from error
        finally:
            sweep(self.out.parent, journal)
            self._workshop.close()
        return self.out

    def _move(self) -> None:
        folder = self.out.parent
        for name in self.data_files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(self._workshop.files / name, folder / name)
            disk.sync_folder((folder / name).parent)
        os.replace(self.model, self.out)
        disk.sync_folder(folder)

    def discard(self) -> None:
        """Remove all that was staged."""
        self._workshop.close()
