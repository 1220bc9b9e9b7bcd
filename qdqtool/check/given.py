"""Inputs the user gives: an NPZ file, or a folder of .npy and .pb files, matched to the model's inputs by name or position."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from onnx import TensorProto

from qdqtool.check.signature import Input, Size
from qdqtool.errors import QdqtoolError, Usage
from qdqtool.kernels.sources import Array
from qdqtool.model import tensors

_FORMS = "give an .npz file or a folder of .npy or .pb files"
_POSITION = re.compile(r"^(?:input|in|arr)_?(\d+)$")


def given(path: Path, ports: Sequence[Input]) -> dict[str, Array]:
    """Arrays by input name.

    A key is the name itself, the name with every character outside ``[A-Za-z0-9_.-]`` replaced by ``_``, or a position:
    ``input_0`` (as in ONNX test data), ``in_0``, ``arr_0``.

    Raises
    ------
    Usage
        The path does not exist, is of another form, holds nothing, or holds an array that fits no input.
    """
    names = [port.name for port in ports]
    arrays = _npz(path) if path.is_file() else _folder(path) if path.is_dir() else None
    if arrays is None:
        raise Usage("no-inputs", f"{path} does not exist", hint=_FORMS)
    if not arrays:
        raise Usage("no-inputs", f"no inputs in {path}", hint=_FORMS)
    matched = {_matched(key, names): array for key, array in arrays.items()}
    if None in matched:
        unknown = next(key for key in arrays if _matched(key, names) is None)
        raise Usage("unknown-input", f"{path} holds {unknown}, which is no input", hint=f"inputs are {', '.join(names)}")
    for port in ports:
        if port.name in matched:
            _require_fit(path, port, matched[port.name])
    return {name: array for name, array in matched.items() if name is not None}


def _require_fit(path: Path, port: Input, array: Array) -> None:
    """By rank and fixed sizes, as ONNX Runtime has it; types are converted, but for text."""
    text = array.dtype.kind in "OSU"
    sized = port.dims is None or (array.ndim == len(port.dims) and all(map(_fits, port.dims, array.shape)))
    worded = port.dtype is not None and (port.dtype.kind == "string") == text
    if not sized or not worded:
        dims = "" if port.dims is None else f"[{', '.join('?' if size is None else str(size) for size in port.dims)}]"
        wanted = "no tensor" if port.dtype is None else f"{port.dtype.name}{dims}"
        why = f"wanted {wanted}, given {'text' if text else array.dtype}{list(array.shape)}"
        raise Usage("unfitting-input", f"input {port.name} of {path} does not fit the model", why=why)


def _fits(wanted: Size, size: int) -> bool:
    return wanted == size or not isinstance(wanted, int) or wanted < 0


def _matched(key: str, names: Sequence[str]) -> str | None:
    if key in names:
        return key
    plain = {re.sub(r"[^A-Za-z0-9_.-]", "_", name): name for name in names}
    if key in plain:
        return plain[key]
    position = _POSITION.match(key)
    return names[int(position[1])] if position and int(position[1]) < len(names) else None


def _npz(path: Path) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as data:
            return {key: data[key] for key in data.files}
    except (ValueError, OSError, AttributeError) as error:
        raise Usage("unreadable-inputs", f"{path} is no .npz file", why=str(error).splitlines()[0]) from None


def _folder(path: Path) -> dict[str, Array]:
    arrays = {}
    for file in sorted(path.iterdir()):
        if file.suffix in (".npy", ".pb") and not file.name.startswith("output"):
            name, array = _one(file)
            arrays[name] = array
    return arrays


def _one(file: Path) -> tuple[str, Array]:
    try:
        if file.suffix == ".npy":
            return file.stem, np.load(file, allow_pickle=False)
        tensor = TensorProto.FromString(file.read_bytes())
        return tensor.name or file.stem, tensors.array(tensor, file.parent)
    except QdqtoolError:
        raise
    except Exception as error:
        raise Usage("unreadable-inputs", f"{file} holds no tensor", why=str(error).splitlines()[0]) from None
