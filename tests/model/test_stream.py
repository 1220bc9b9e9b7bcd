"""What is written of a source, by one thread or two, and who hears of it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.errors import Unreadable
from qdqtool.kernels import recode
from qdqtool.kernels.sources import ArraySource, Source, parallel
from qdqtool.model import load, packing, stream, tensors
from qdqtool.model.external import Extent, ExternalSource
from qdqtool.model.stage import stage
from qdqtool.model.stream import Stream
from qdqtool.quantization import Blocked, PerAxis, PerTensor
from tests.model.models import adding, floats

SHAPE = (300, 1027)


@pytest.fixture
def codes(tmp_path: Path) -> ExternalSource:
    """int4 codes that do not begin at the beginning of their file."""
    count = dtypes.INT4.nbytes(SHAPE[0] * SHAPE[1])
    (tmp_path / "codes").write_bytes(b"head" + np.random.default_rng(0).bytes(count))
    return ExternalSource(Extent(tmp_path / "codes", 4, count), dtypes.INT4, SHAPE, "codes")


def real(codes: Source, expressed: ElementType) -> Source:
    scale = np.random.default_rng(1).random((300, 33)).astype(np.float32)
    return recode.open_kernel("dequantize", [codes, ArraySource(scale)], (Blocked(1, 32), expressed))


def requantized(codes: Source) -> Source:
    """int4 again, with a scale for each row: packed on the way out."""
    scale = ArraySource(np.linspace(0.1, 0.4, 300, dtype=np.float32).reshape(300, 1))
    return recode.open_kernel("quantize", [real(codes, dtypes.FLOAT), scale], (Blocked(1, 2000), dtypes.INT4, dtypes.FLOAT, True))


def doubled(codes: Source) -> Source:
    """With a scale for each row that is dequantized itself, from what lies in the protobuf."""
    parts = np.arange(300).astype(np.uint8), np.float32([0.1])
    inner = [tensors.source(tensors.make("", part), None) for part in parts]
    scale = recode.open_kernel("dequantize", inner, (PerTensor(), dtypes.FLOAT))
    return recode.open_kernel("dequantize", [codes, scale], (PerAxis(0), dtypes.FLOAT))


def whole(source: Source) -> bytes:
    return packing.pack(source.read(0, SHAPE[0] * SHAPE[1]), source.dtype)


def written(source: Source, path: Path) -> tuple[bytes, list[int]]:
    told: list[int] = []
    with open(path, "wb") as file:
        file.write(b"before")
        Stream(source).write(file, told.append)
        file.write(b"after")
    content = path.read_bytes()
    assert (content[:6], content[-5:]) == (b"before", b"after")
    return content[6:-5], told


@pytest.mark.parametrize("shared", [0, 1 << 40])
@pytest.mark.parametrize("make", [lambda c: real(c, dtypes.FLOAT), lambda c: real(c, dtypes.FLOAT16), lambda c: c, requantized, doubled])
def test_one_thread_or_two_write_the_same(make: Any, shared: int, codes: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "SHARED", shared)
    monkeypatch.setattr(stream, "PIECE", 1 << 12)
    source = make(codes)
    assert parallel(source)
    content, told = written(source, tmp_path / "out")
    assert content == whole(source)
    assert sum(told) == len(content)


def test_a_file_without_positions_takes_the_same(codes: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "SHARED", 0)
    file = io.BytesIO()
    Stream(real(codes, dtypes.FLOAT)).write(file)
    assert file.getvalue() == whole(real(codes, dtypes.FLOAT))


@pytest.mark.parametrize("shared", [0, 1 << 40])
def test_an_error_in_any_thread_is_raised(shared: int, codes: ExternalSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "SHARED", shared)
    monkeypatch.setattr(stream, "PIECE", 1 << 12)
    codes.extent.path.write_bytes(codes.extent.path.read_bytes()[:-100_000])
    with pytest.raises(Unreadable, match="the file of tensor 'codes' shrank while it was read"):
        written(real(codes, dtypes.FLOAT), tmp_path / "out")


@pytest.mark.parametrize("external", [None, "w.data"])
def test_staging_tells_how_far_it_is(external: str | None, codes: Source, tmp_path: Path) -> None:
    source = real(codes, dtypes.FLOAT)
    proto = adding(tensors.header("w", source.dtype, source.shape), floats("a", 1, count=1 << 17))
    told: list[tuple[int, int]] = []
    options = {"external_data": external, "progress": lambda done, total: told.append((done, total))}
    stage(proto, {"w": source}, loaded=load.load(proto), out=tmp_path / "out.onnx", **options).publish()
    done = [part for part, _ in told]
    assert done == sorted(done)
    assert {total for _, total in told} == {done[-1]}
    assert done[-1] == sum((tmp_path / name).stat().st_size for name in ("out.onnx", *([external] if external else []))) - padding(external)


def padding(external: str | None) -> int:
    """Bytes between tensors in a data file, which are not written."""
    if external is None:
        return 0
    return -SHAPE[0] * SHAPE[1] * 4 % 4096
