"""The record of a finished conversion: the new model, what changed, and what the check said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onnx import ModelProto

from qdqtool.changes import Change
from qdqtool.check import Report
from qdqtool.kernels.sources import Source, materialize
from qdqtool.model import inline, tensors, walk
from qdqtool.model.load import Loaded
from qdqtool.model.stage import Staged, stage


@dataclass(slots=True, eq=False)
class Conversion:
    """A finished conversion.

    Attributes
    ----------
    files : tuple of Path
        What was written for ``output``: the model, then its new data files.
    source_opset, target_opset : int
        Versions of the default domain before and after.
    ir : tuple of int
        ``ir_version`` before and after.
    changes : tuple of Change
        One for each rewritten node.
    notes : tuple of str
        What else was changed, left or odd.
    kept : int
        Quantize and dequantize nodes that stayed as they are.
    check : Report or None
        What the closing check found; None when it was not asked for.
    """

    source_opset: int
    target_opset: int
    ir: tuple[int, int]
    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    kept: int
    check: Report | None = None
    files: tuple[Path, ...] = ()
    _proto: ModelProto = field(default_factory=ModelProto, repr=False)
    _pending: dict[str, Source] = field(default_factory=dict, repr=False)
    _loaded: Loaded | None = field(default=None, repr=False)
    _unchanged: bool = False
    _wrap: Callable[[ModelProto], Any] | None = field(default=None, repr=False)

    @property
    def model(self) -> Any:
        """The result as ModelProto (or onnx_ir.Model if that was given).

        Tensors that nobody had to read keep their references to external data, new ones are inside.
        """
        for tensor in walk.tensors(self._proto):
            if tensor.name in self._pending and not inline.has_data(tensor):
                tensor.raw_data = tensors.make(tensor.name, materialize(self._pending[tensor.name])).raw_data
        self._pending.clear()
        return self._proto if self._wrap is None else self._wrap(self._proto)

    def save(self, path: str | Path, *, external_data: str | None = None, overwrite: bool = True) -> Path:
        """Write the result, computing new constants tile by tile; the file appears whole or not at all.

        Parameters
        ----------
        path : str or Path
            The .onnx file. External data is referred to when it lies in the same folder, else copied.
        external_data : str, optional
            Name of one file for all large tensors.
        overwrite : bool
            Whether `path` may exist.

        Returns
        -------
        Path
            The file that was written.

        Raises
        ------
        Usage
            `path` may not be written: it is there already, or its folder is not.
        QdqtoolError
            Writing failed; what was there before still is.
        """
        return self.stage(Path(path), external_data, overwrite).publish()

    def stage(self, path: Path, external_data: str | None = None, overwrite: bool = True) -> Staged:
        """The result in a staging folder beside `path`."""
        assert self._loaded is not None
        return stage(
            self._proto,
            self._pending,
            loaded=self._loaded,
            out=path,
            external_data=external_data,
            overwrite=overwrite,
            unchanged=self._unchanged,
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "source_opset": self.source_opset,
            "target_opset": self.target_opset,
            "ir_version": list(self.ir),
            "changes": [c.to_dict() for c in self.changes],
            "kept": self.kept,
            "notes": list(self.notes),
            "check": self.check.to_dict() if self.check else None,
        }
