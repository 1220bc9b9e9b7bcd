"""What a model holds and what targets take; nothing is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx import ModelProto

    from qdqtool.inspection import Inspection


def inspect(model: str | Path | ModelProto) -> Inspection:
    """What a model holds: opsets, ``ir_version``, functions, and a table of its quantized nodes. No weight is read."""
    from qdqtool import inspection
    from qdqtool.model.load import load

    return inspection.inspect(load(model))


def data_files(model: str | Path) -> list[Path]:
    """Files that hold the external data of a model; none when it cannot be read."""
    from qdqtool.errors import Unreadable
    from qdqtool.model.load import load

    try:
        loaded = load(model, trusting=True)
    except Unreadable:
        return []
    folder = Path(model).absolute().parent
    return [folder / name for name in sorted(loaded.data_files) if name and "\0" not in name]


def profiles(target: str | None = None) -> list[dict[str, Any]]:
    """What is known of the target ``NAME[@VERSION]``, or of all; Usage when it is unknown."""
    from qdqtool import targets
    from qdqtool.targets import record

    if target is not None:
        return [record.to_dict(targets.profile(target))]
    runtimes = [(name, runtime.versions()) for name, runtime in targets.all_targets().items() if name != "opset"]
    known = [f"{name}@{version}" if version else name for name, versions in runtimes for version in versions or ("",)]
    opsets = targets.all_targets()["opset"].versions()
    opset = record.to_dict(targets.profile("opset")) | {"target": "opset@N", "opsets": [int(opsets[0]), int(opsets[-1])]}
    return [opset, *(record.to_dict(targets.profile(name)) for name in known)]
