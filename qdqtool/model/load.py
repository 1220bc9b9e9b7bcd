"""Opening a model: the protobuf without its external data, or one clear error that says what the file is instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.message import DecodeError  # type: ignore[import-untyped,unused-ignore]
from onnx import FunctionProto, ModelProto, defs

from qdqtool.errors import Unreadable
from qdqtool.model import external, formats, paths
from qdqtool.model.walk import tensors

_LARGEST_PROTOBUF = 1 << 31
_COMPILED = "EPContext"


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A model in memory.

    `path` is the file it came from, `base_dir` the folder of its external data; either may be None for a model that was
    built in memory. `data_files` are the locations of external data that it named when it was loaded.
    """

    proto: ModelProto
    path: Path | None
    base_dir: Path | None
    data_files: frozenset[str] = frozenset()


def load(model: str | Path | ModelProto, base_dir: str | Path | None = None, *, trusting: bool = False) -> Loaded:
    """Open a model without reading its external data.

    Parameters
    ----------
    model : str, Path or ModelProto
        A file, or a model in memory (taken as it is, not copied).
    base_dir : str or Path, optional
        Folder of the external data; by default that of the file.
    trusting : bool
        Open whatever is a model at all, for a reader that judges the rest itself: neither compiled graphs nor places of
        external data are refused here.

    Raises
    ------
    Unreadable
        No file, no ONNX model (the error says what it is), damaged, compiled for one device, or external data at a
        place that ONNX Runtime refuses too.
    """
    if isinstance(model, ModelProto):
        proto, path = model, None
    else:
        path = Path(model).absolute()
        proto = _parse(path)
    folder = Path(base_dir).absolute() if base_dir is not None else path.parent if path else None
    if base_dir is not None and folder is not None and not folder.is_dir():
        raise Unreadable("no-such-folder", f"base_dir {folder} is no folder", hint="name the folder that holds the external data")
    names = {external.location(tensor): tensor.name for tensor in tensors(proto) if external.is_external(tensor)}
    if not trusting:
        _require_graph(proto, path)
        _require_inside(names, path, folder)
    return Loaded(proto, path, folder, frozenset(names))


def opset_of(holder: ModelProto | FunctionProto) -> int:
    """Version of the ai.onnx operators that a model or function imports.

    Where it is imported twice, or once as ``ai.onnx``, the last import counts, as in ONNX Runtime 1.32.

    Raises
    ------
    Unreadable
        None is imported, or one that the installed onnx does not know.
    """
    versions = [entry.version for entry in holder.opset_import if entry.domain in ("", "ai.onnx")]
    newest = defs.onnx_opset_version()
    if not versions:
        raise Unreadable("no-opset", "the model does not say which opset of ai.onnx it uses", hint="add an opset_import for the domain ''")
    if not 1 <= versions[-1] <= newest:
        why, hint = f"the installed onnx knows 1 to {newest}", "upgrade the onnx package"
        raise Unreadable("unknown-opset", f"the model uses opset {versions[-1]}, which does not exist here", why=why, hint=hint)
    return int(versions[-1])


def _parse(path: Path) -> ModelProto:
    data = _bytes(path)
    proto = ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError:
        raise _not_a_model(path, data) from None
    if not proto.HasField("graph"):
        raise _not_a_model(path, data)
    return proto


def _bytes(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        with open(path, "rb") as file:
            data = file.read(formats.HEAD) if size >= _LARGEST_PROTOBUF else b""
            if data and formats.recognise(data):
                return data
            return data + file.read()
    except FileNotFoundError:
        raise Unreadable("no-such-file", f"{path} does not exist", hint="check the name") from None
    except (IsADirectoryError, PermissionError) as error:
        if path.is_dir():
            found = sorted(p.name for p in path.glob("*.onnx"))[:3]
            hint = f"name the file, e.g. {path / found[0]}" if found else "name an .onnx file"
            raise Unreadable("directory", f"{path} is a folder", hint=hint) from None
        raise Unreadable("unreadable-file", f"{path} cannot be read", why=str(error)) from None
    except OSError as error:
        raise Unreadable("unreadable-file", f"{path} cannot be read", why=str(error)) from None


def _not_a_model(path: Path, data: bytes) -> Unreadable:
    if not data:
        return Unreadable("empty-file", f"{path} is empty", hint="the download or export that made it failed; make it again")
    verdict = formats.recognise(data[: formats.HEAD])
    if verdict:
        return Unreadable("not-a-model", f"{path} is no ONNX model but {verdict[0]}", hint=verdict[1])
    if data[:1] == b"\x08":
        why = f"{len(data)} bytes that begin like a model do not decode to the end"
        return Unreadable("damaged-model", f"{path} is cut off or damaged", why=why, hint="fetch or export it again")
    return Unreadable("not-a-model", f"{path} is no ONNX model", why="its bytes are no protobuf of a model", hint="name an .onnx file")


def _require_graph(proto: ModelProto, path: Path | None) -> None:
    where = str(path or "")
    if not proto.HasField("graph"):
        raise Unreadable("no-graph", "the model holds no graph", where=where, hint="export the model again")
    if any(node.op_type == _COMPILED and node.domain == "com.microsoft" for node in proto.graph.node):
        why = "it holds an EPContext node, a graph compiled for one device"
        raise Unreadable("compiled-model", "the model is compiled", where=where, why=why, hint="use the .onnx file it was compiled from")


def _require_inside(names: Mapping[str, str], path: Path | None, folder: Path | None) -> None:
    """Refuses data outside the model's folder here, where the model's own path is known; later readers need only the folder."""
    if folder is not None:
        folders = (folder, *(paths.homes(path) if path else ()))
        for location, tensor in names.items():
            paths.require_inside(paths.join(folder, location, tensor), folders, tensor)
