"""Where external data may lie: exactly where ONNX Runtime accepts it.

Accepted: a relative location whose real path lies in the real folder that the model was named in, or in the folder of
the model's real file. So a model whose own file *and* data are symbolic links into one folder (the Hugging Face cache)
loads, and so does hard-linked data; a link that leads out of both folders, an absolute location and ``..`` out of the
folder do not. Source: ONNX Runtime 1.32, pull request 27374.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath, PureWindowsPath

from qdqtool.errors import Unreadable

_HINT = "external data must lie in the model's own folder; move it there, or save the model again with its data beside it"


def inside(path: Path, folders: Iterable[Path]) -> bool:
    """Whether the real place of `path` lies in one of the folders."""
    real = path.resolve()
    return any(real.is_relative_to(folder.resolve()) for folder in folders)


def homes(model: Path) -> tuple[Path, Path]:
    """The folder a model is named in, and the one its real file lies in."""
    return model.parent, model.resolve().parent


def join(base_dir: Path, location: str, tensor: str) -> Path:
    """The file of an external tensor; Unreadable when the location is empty, absolute or climbs out of the folder."""
    reason = _fault(location)
    if reason:
        raise Unreadable("data-outside", f"the external data of tensor '{tensor}' has {reason}", where=repr(location), hint=_HINT)
    return base_dir / location


def _fault(location: str) -> str:
    if not location:
        return "no location"
    if "\0" in location:
        return "a location with a zero byte"
    if PurePosixPath(location).is_absolute() or PureWindowsPath(location).drive or PureWindowsPath(location).root:
        return "an absolute location"
    return "a location outside the model's folder" if _climbs(location) else ""


def _climbs(location: str) -> bool:
    depth = 0
    for part in PurePosixPath(location.replace("\\", "/")).parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return True
    return False


def require_inside(path: Path, folders: Iterable[Path], tensor: str) -> None:
    """Unreadable when symbolic links lead the data of `tensor` out of all `folders`."""
    if not inside(path, folders):
        message, why = f"the external data of tensor '{tensor}' lies outside the model's folder", f"a link leads to {path.resolve()}"
        raise Unreadable("data-outside", message, where=str(path), why=why, hint=_HINT)
