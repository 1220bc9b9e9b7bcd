"""The writer of protobuf bytes, against the protobuf library."""

from __future__ import annotations

import io
import tracemalloc
from dataclasses import dataclass

import numpy as np
import onnx
import pytest
from onnx import ModelProto

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.model import encode, load, tensors, walk
from tests.model.models import adding, floats


def written(parts: list[encode.Part]) -> bytes:
    file = io.BytesIO()
    encode.write(parts, file)
    assert encode.length(parts) == len(file.getvalue())
    return file.getvalue()


def test_every_model_of_the_corpus_comes_back_equal(corpus):
    for path in corpus.rglob("*.onnx"):
        proto = load.load(path).proto
        # With something to replace in it, each message down to a tensor is written field by field.
        alive = list(walk.tensors(proto))
        same: dict[int, encode.Substitute] = {id(t): t for t in alive}
        for substitutes in ({}, same):
            found = ModelProto.FromString(written(encode.parts(proto, substitutes)))
            assert found.SerializeToString(deterministic=True) == proto.SerializeToString(deterministic=True), path


def test_a_large_inline_tensor_is_written_from_where_it_is():
    proto = adding(floats("a", 1, count=1 << 17))
    parts = encode.parts(proto, {})
    assert [type(part).__name__ for part in parts if not isinstance(part, bytes)] == ["Held"]
    assert ModelProto.FromString(written(parts)) == proto


@dataclass(frozen=True)
class Zeros:
    dtype: ElementType
    shape: tuple[int, ...]

    def read(self, start, stop):
        return np.zeros(stop - start, self.dtype.numpy)


@pytest.mark.parametrize("dtype", [dtypes.INT4, dtypes.FLOAT], ids=str)
def test_memory_does_not_grow_with_the_data(dtype, tmp_path):
    count = 1 << 24
    proto = adding(tensors.header("w", dtype, (count,)))
    stream = encode.Stream(Zeros(dtype, (count,)))
    with open(tmp_path / "m.onnx", "wb") as file:
        tracemalloc.start()
        weight = proto.graph.initializer[0]
        encode.write(encode.parts(proto, {id(weight): stream}), file)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 6 << 20
    assert onnx.load(tmp_path / "m.onnx").graph.initializer[0].ByteSize() > dtype.nbytes(count)
