"""Constants against their data, in the protobuf and in files beside it, without reading any of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from onnx import ModelProto, TensorProto

from qdqtool.errors import Unreadable
from qdqtool.model import external, paths, tensors
from qdqtool.model.external import Extent
from qdqtool.model.load import Loaded
from qdqtool.model.walk import tensors as every_tensor

_SAME = {"data-length": "data-reference", "data-unreadable": "data-missing"}


@dataclass(frozen=True, slots=True)
class DataFault:
    """What is wrong with external data; `code` is that of `model.external`, or data-overlap."""

    code: str
    location: str
    message: str


def damaged(proto: ModelProto) -> Iterator[tuple[str, Unreadable]]:
    """The names of constants whose header or inline data is damaged, and what is wrong with each."""
    for tensor in every_tensor(proto):
        try:
            tensors.require_whole(tensor)
        except Unreadable as error:
            yield tensor.name, error


def references(loaded: Loaded) -> list[DataFault]:
    """Everything that is wrong with external data: one fault for each file and cause."""
    if loaded.base_dir is None:
        return []
    found: list[DataFault] = []
    files: dict[str, list[tuple[TensorProto, Extent]]] = defaultdict(list)
    for tensor in every_tensor(loaded.proto):
        if external.is_external(tensor):
            _place(tensor, loaded, files, found)
    for location, members in files.items():
        found += _of_file(location, members, loaded)
    return _merged(found)


def _place(tensor: TensorProto, loaded: Loaded, files: dict[str, list[tuple[TensorProto, Extent]]], found: list[DataFault]) -> None:
    location = external.location(tensor)
    try:
        extent = external.planned(tensor, tensors.nbytes(tensor), loaded.base_dir)
    except Unreadable as error:
        if error.code.startswith("data-"):
            found.append(DataFault(_SAME.get(error.code, error.code), location, _said(error)))
        return
    files[location].append((tensor, extent))


def _of_file(location: str, members: list[tuple[TensorProto, Extent]], loaded: Loaded) -> Iterator[DataFault]:
    folders = (members[0][1].path.parent, *(paths.homes(loaded.path) if loaded.path else (loaded.base_dir,)))
    last = max(members, key=lambda member: member[1].end)
    try:
        paths.require_inside(last[1].path, [f for f in folders[1:] if f], last[0].name)
        external.require(*last)
    except Unreadable as error:
        shared = f", which holds {len(members)} tensors" if len(members) > 1 else ""
        yield DataFault(_SAME.get(error.code, error.code), location, f"{_said(error)} ('{location}'{shared})")
    yield from _overlaps(location, members)


def _overlaps(location: str, members: list[tuple[TensorProto, Extent]]) -> Iterator[DataFault]:
    spans = {(e.offset, e.end): t.name for t, e in members if e.length}
    pairs = [(a, b) for a, b in pairwise(sorted(spans)) if b[0] < a[1]]
    if pairs:
        first, second = pairs[0]
        more = f", and {len(pairs) - 1} more pairs" if len(pairs) > 1 else ""
        text = f"tensors '{spans[first]}' (bytes {first[0]} to {first[1]}) and '{spans[second]}' ({second[0]} to {second[1]})"
        yield DataFault("data-overlap", location, f"{text} of '{location}' overlap{more}")


def _said(error: Unreadable) -> str:
    return f"{error.message}; {error.why}" if error.why else error.message


def _merged(found: list[DataFault]) -> list[DataFault]:
    """One fault for each location and code: the first, with a count."""
    first: dict[tuple[str, str], list[DataFault]] = defaultdict(list)
    for fault in found:
        first[fault.code, fault.location].append(fault)
    return [
        faults[0] if len(faults) == 1 else DataFault(*key, f"{faults[0].message}, and {len(faults) - 1} more")
        for key, faults in first.items()
    ]
