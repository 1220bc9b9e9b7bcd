"""Weights are repacked tile by tile: 2 GiB of them, there and back, in less than 300 MiB."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto

from tests.conftest import ROOT
from tests.dialects.large import write

LIMIT = 300


def converted(source: Path, result: Path, to: str) -> int:
    """MiB at the peak."""
    command = [sys.executable, "-m", "tests.dialects.large", str(source), str(result), to]
    return int(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def data(path: Path) -> list[tuple[str, bytes]]:
    """The weights of the first product by type, read from the file of external data."""
    proto = onnx.load(path, load_external_data=False)
    held = {t.name: t for t in proto.graph.initializer}
    tensors = [held[name] for name in proto.graph.node[0].input if name in held]
    return [(TensorProto.DataType.Name(t.data_type), _read(path, t)) for t in tensors]


def _read(path: Path, tensor: TensorProto) -> bytes:
    place = {entry.key: entry.value for entry in tensor.external_data}
    with open(path.with_name(place["location"]), "rb") as file:
        file.seek(int(place["offset"]))
        return file.read(int(place["length"]))


@pytest.mark.full
def test_two_gibibytes_there_and_back(tmp_path: Path) -> None:
    original = write(tmp_path, 2)
    there, back = tmp_path / "there" / "there.onnx", tmp_path / "back" / "back.onnx"
    for result in (there, back):
        result.parent.mkdir()
    assert converted(original, there, "ai.onnx") < LIMIT
    assert converted(there, back, "matmulnbits") < LIMIT
    assert data(back) == data(original)
