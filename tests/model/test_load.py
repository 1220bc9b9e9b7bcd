"""What opens, and one clear error for everything that does not."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import zipfile

import onnx
import onnx.printer
import pytest
from google.protobuf import json_format, text_format
from onnx import ModelProto, TensorProto, helper

from qdqtool.errors import QdqtoolError, Unreadable
from qdqtool.model import load, tensors, walk
from tests.model.models import adding, floats, outside, saved, write_data

MODEL = adding(floats("w", 1, 2))
BYTES = MODEL.SerializeToString()
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d7a2146" * 8 + b"\nsize 12345\n"


def safetensors() -> bytes:
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(4)


def archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("archive/data.pkl", b"x")
    return buffer.getvalue()


WRONG = {
    "empty": (b"", "is empty"),
    "lfs": (LFS, "git-lfs pointer"),
    "ort": (b"\x20\0\0\0ORTM" + bytes(range(64)), "ONNX Runtime"),
    "tflite": (b"\x1c\0\0\0TFL3" + bytes(range(64)), "TensorFlow Lite"),
    "gzip": (gzip.compress(BYTES), "gzip"),
    "zip": (archive(), "zip archive"),
    "pickle": (pickle.dumps({"a": 1}), "pickle"),
    "safetensors": (safetensors(), "safetensors"),
    "onnx text": (onnx.printer.to_text(MODEL).encode(), "ONNX's text syntax"),
    "json": (json_format.MessageToJson(MODEL).encode(), "JSON"),
    "protobuf text": (text_format.MessageToString(MODEL).encode(), "protobuf's text format"),
    "html": (b"<!DOCTYPE html>\n<html>404</html>", "web page"),
    "words": ("Größe\n".encode() * 3, "text file"),
    "tensor": (floats("w", 1).SerializeToString(), "single ONNX tensor"),
    "graph": (MODEL.graph.SerializeToString(), "graph without its model"),
    "truncated": (BYTES[:-7], "cut off or damaged"),
    "noise": (bytes(range(255, 0, -1)), "no ONNX model"),
    "no graph": (helper.make_model(helper.make_graph([], "", [], [])).SerializeToString()[:4], "no ONNX model|cut off"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_model_is_named(name, tmp_path):
    data, words = WRONG[name]
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    with pytest.raises(Unreadable, match=words) as caught:
        load.load(path)
    assert str(path) in str(caught.value)
    assert caught.value.hint
    assert caught.value.status == 2


def test_every_cut_of_a_model_is_an_error(tmp_path):
    path = tmp_path / "model.onnx"
    for cut in range(len(BYTES)):
        path.write_bytes(BYTES[:cut])
        with pytest.raises(Unreadable):
            load.opset_of(load.load(path).proto)


def test_missing_and_folder(tmp_path):
    with pytest.raises(Unreadable, match="does not exist"):
        load.load(tmp_path / "no.onnx")
    saved(MODEL, tmp_path / "m" / "model.onnx")
    with pytest.raises(Unreadable, match="is a folder") as caught:
        load.load(tmp_path / "m")
    assert "model.onnx" in caught.value.hint


def test_compiled_models_and_models_without_graph_are_refused():
    node = helper.make_node("EPContext", ["x"], ["y"], domain="com.microsoft")
    with pytest.raises(Unreadable, match="compiled"):
        load.load(helper.make_model(helper.make_graph([node], "g", [], [])))
    with pytest.raises(Unreadable, match="no graph"):
        load.load(ModelProto(ir_version=8))


def test_loading_reads_no_external_data(tmp_path):
    path = saved(adding(outside("w", [4], "not there")), tmp_path / "model.onnx")
    loaded = load.load(str(path))
    assert (loaded.path, loaded.base_dir, loaded.data_files) == (path, tmp_path, {"not there"})


def imports(*pairs: tuple[str, int]) -> ModelProto:
    model = ModelProto()
    for domain, version in pairs:
        model.opset_import.add(domain=domain, version=version)
    return model


@pytest.mark.parametrize(
    ("pairs", "version"),
    [
        ([("", 13)], 13),
        ([("ai.onnx", 13)], 13),
        ([("", 11), ("", 13)], 13),
        ([("", 13), ("", 11)], 11),
        ([("ai.onnx", 10), ("", 13)], 13),
        ([("", 13), ("ai.onnx", 11), ("com.microsoft", 1)], 11),
    ],
)
def test_the_last_import_counts(pairs, version):
    """Measured: ONNX Runtime 1.32 takes ReduceSum with an axes attribute exactly where the last import is below 13."""
    assert load.opset_of(imports(*pairs)) == version


@pytest.mark.parametrize(
    ("pairs", "code"),
    [([], "no-opset"), ([("com.microsoft", 1)], "no-opset"), ([("", 99)], "unknown-opset"), ([("", 0)], "unknown-opset")],
)
def test_impossible_opsets(pairs, code):
    with pytest.raises(Unreadable) as caught:
        load.opset_of(imports(*pairs))
    assert caught.value.code == code
    assert caught.value.hint


DATA = [
    ("missing", outside("w", [4], "no.bin"), "data-missing"),
    ("missing folder", outside("w", [4], "w.bin/no.bin"), "data-missing"),
    ("short", outside("w", [8], "w.bin"), "data-short"),
    ("short by offset", outside("w", [4], "w.bin", offset=4), "data-short"),
    ("wrong length", outside("w", [4], "w.bin", length=12), "data-length"),
    ("odd offset", outside("w", [4], "w.bin", offset="four"), "data-reference"),
    ("negative offset", outside("w", [4], "w.bin", offset="-4"), "data-reference"),
    ("strings", outside("w", [4], "w.bin", code=TensorProto.STRING), "data-reference"),
    ("pointer", outside("w", [400], "lfs.bin"), "data-pointer"),
    ("folder", outside("w", [4], "folder"), "data-unreadable"),
]


@pytest.mark.parametrize(("tensor", "code"), [d[1:] for d in DATA], ids=[d[0] for d in DATA])
def test_bad_external_data_names_file_and_tensor(tensor, code, tmp_path):
    write_data(tmp_path / "w.bin", 7)
    (tmp_path / "lfs.bin").write_bytes(LFS)
    (tmp_path / "folder").mkdir()
    with pytest.raises(Unreadable) as caught:
        tensors.source(tensor, tmp_path)
    assert caught.value.code == code
    assert "'w'" in caught.value.message
    assert ("git lfs pull" in caught.value.hint) == (tensor.external_data[0].value == "lfs.bin")


def test_an_offset_that_fits_is_read(tmp_path):
    write_data(tmp_path / "w.bin", 7, 8)
    assert tensors.array(outside("w", [4], "w.bin", offset=16), tmp_path).tolist() == [8, 8, 8, 8]
    assert tensors.array(outside("w", [0, 4], "gone.bin"), tmp_path).shape == (0, 4)


def test_the_models_of_the_corpus_load_and_their_constants_can_be_read(corpus):
    """All 157 load; the one tensor that does not fit its type (an OpenVINO test of exactly that) is an error by name."""
    faulty = {}
    paths = sorted(corpus.rglob("*.onnx"))
    for path in paths:
        loaded = load.load(path)
        for tensor in walk.tensors(loaded.proto):
            try:
                tensors.source(tensor, loaded.base_dir)
            except QdqtoolError as error:
                faulty[path.name] = error.message
    assert len(paths) == 157
    assert faulty == {"quantize_linear_u16.onnx": "tensor 'y_zero_point' holds 1 bytes"}
