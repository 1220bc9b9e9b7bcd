"""A rewritten model before it is written: its protobuf, what fills constants that are not computed yet, and where it came from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onnx import ModelProto

from qdqtool.asked import require_other
from qdqtool.kernels.sources import Source, materialize
from qdqtool.model import external, inline, tensors, walk
from qdqtool.model.load import Loaded
from qdqtool.model.stage import Staged, stage


@dataclass(slots=True, eq=False)
class Result:
    """What a conversion or a fold made of the model `loaded`; `wrap` turns it into what callers get.

    `pending` holds the data of tensors that have none yet, by name; `unchanged` says that the input's bytes are the result;
    `progress` is told bytes written and bytes in all.
    """

    proto: ModelProto
    loaded: Loaded
    pending: dict[str, Source] = field(default_factory=dict)
    unchanged: bool = False
    wrap: Callable[[ModelProto], Any] | None = None
    progress: Callable[[int, int], None] | None = None

    def model(self) -> Any:
        """The model in memory, new constants computed; tensors that nobody had to read still refer to external data."""
        for tensor in walk.tensors(self.proto):
            if tensor.name in self.pending and not (inline.has_data(tensor) or external.is_external(tensor)):
                tensor.raw_data = tensors.make(tensor.name, materialize(self.pending[tensor.name])).raw_data
        self.pending.clear()
        return self.proto if self.wrap is None else self.wrap(self.proto)

    def stage(self, path: Path, external_data: str | None = None, overwrite: bool = True) -> Staged:
        """The model in a staging folder beside `path`."""
        return stage(
            self.proto,
            self.pending,
            loaded=self.loaded,
            out=path,
            external_data=external_data,
            overwrite=overwrite,
            unchanged=self.unchanged,
            progress=self.progress,
        )

    def save(self, path: str | Path, *, external_data: str | None = None, overwrite: bool = True, in_place: bool = False) -> Path:
        """Write the model, computing new constants tile by tile; the file appears whole or not at all.

        Parameters
        ----------
        path : str or Path
            The .onnx file. External data is referred to when it lies in the same folder, else copied.
        external_data : str, optional
            Name of one file for all large tensors.
        overwrite : bool
            Whether `path` may exist.
        in_place : bool
            Whether it may be the file that the model came from.

        Returns
        -------
        Path
            The file that was written.

        Raises
        ------
        Usage
            `path` may not be written: it is there already, or is the input, or its folder is not there.
        QdqtoolError
            Writing failed; what was there before still is.
        """
        if self.loaded.path is not None and not in_place:
            require_other(self.loaded.path, Path(path))
        return self.stage(Path(path), external_data, overwrite).publish()
