"""Models to compare as files: judged before anything runs, and written to a temporary folder when they are in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from onnx import ModelProto

from qdqtool.check.subject import Subject
from qdqtool.model import ir
from qdqtool.model.load import Loaded, load, opset_of
from qdqtool.model.structure import require_sound


@contextmanager
def opened(model: str | Path | ModelProto | Any, base_dir: str | Path | None) -> Iterator[Subject]:
    """The model as a file.

    Raises
    ------
    Unreadable
        It is no sound model.
    """
    if isinstance(model, str | Path):
        yield _subject(Path(model).absolute(), load(model))
        return
    proto, folder = ir.to_proto(model) if ir.is_ir(model) else (model, None)
    loaded = load(proto, base_dir or folder)
    with tempfile.TemporaryDirectory(prefix="qdqtool-") as place:
        path = Path(place) / "model.onnx"
        path.write_bytes(proto.SerializeToString())
        yield _subject(path, loaded)


def _subject(path: Path, loaded: Loaded) -> Subject:
    require_sound(loaded.proto)
    opset_of(loaded.proto)
    return Subject(path, (loaded.base_dir or path.parent,))
