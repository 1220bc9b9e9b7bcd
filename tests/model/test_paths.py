"""Places of external data: accepted exactly where ONNX Runtime accepts them."""

from __future__ import annotations

import os

import numpy as np
import onnxruntime
import pytest
from onnx import numpy_helper

from qdqtool.errors import Unreadable
from qdqtool.model import load, tensors
from tests.model.models import adding, outside, saved, write_data


def beside(root):
    write_data(root / "m" / "w.bin", 7)
    return saved(adding(outside("w", [4], "w.bin")), root / "m" / "model.onnx")


def in_a_folder_below(root):
    write_data(root / "m" / "data" / "w.bin", 7)
    return saved(adding(outside("w", [4], "data/w.bin")), root / "m" / "model.onnx")


def up_and_down_inside(root):
    write_data(root / "m" / "w.bin", 7)
    (root / "m" / "data").mkdir()
    return saved(adding(outside("w", [4], "data/../w.bin")), root / "m" / "model.onnx")


def hugging_face_cache(root):
    write_data(root / "blobs" / "22bb", 7)
    saved(adding(outside("w", [4], "w.bin")), root / "blobs" / "11aa")
    folder = root / "snapshots" / "main"
    folder.mkdir(parents=True)
    (folder / "model.onnx").symlink_to("../../blobs/11aa")
    (folder / "w.bin").symlink_to("../../blobs/22bb")
    return folder / "model.onnx"


def hard_link(root):
    write_data(root / "elsewhere" / "w.bin", 7)
    path = saved(adding(outside("w", [4], "w.bin")), root / "m" / "model.onnx")
    os.link(root / "elsewhere" / "w.bin", root / "m" / "w.bin")
    return path


def folder_is_a_link(root):
    beside(root)
    (root / "link").symlink_to("m")
    return root / "link" / "model.onnx"


def link_inside_the_folder(root):
    write_data(root / "m" / "real.bin", 7)
    (root / "m" / "w.bin").symlink_to("real.bin")
    return saved(adding(outside("w", [4], "w.bin")), root / "m" / "model.onnx")


def only_the_data_is_a_link(root):
    write_data(root / "elsewhere" / "w.bin", 7)
    path = saved(adding(outside("w", [4], "w.bin")), root / "m" / "model.onnx")
    (root / "m" / "w.bin").symlink_to("../elsewhere/w.bin")
    return path


def links_into_two_folders(root):
    write_data(root / "blobs2" / "22bb", 7)
    saved(adding(outside("w", [4], "w.bin")), root / "blobs" / "11aa")
    (root / "m").mkdir()
    (root / "m" / "model.onnx").symlink_to("../blobs/11aa")
    (root / "m" / "w.bin").symlink_to("../blobs2/22bb")
    return root / "m" / "model.onnx"


def absolute(root):
    write_data(root / "m" / "w.bin", 7)
    return saved(adding(outside("w", [4], str(root / "m" / "w.bin"))), root / "m" / "model.onnx")


def climbing(root):
    write_data(root / "w.bin", 7)
    return saved(adding(outside("w", [4], "../w.bin")), root / "m" / "model.onnx")


def climbing_later(root):
    write_data(root / "w.bin", 7)
    (root / "m" / "data").mkdir(parents=True)
    return saved(adding(outside("w", [4], "data/../../w.bin")), root / "m" / "model.onnx")


def folder_link_out(root):
    write_data(root / "elsewhere" / "w.bin", 7)
    (root / "m").mkdir()
    (root / "m" / "data").symlink_to("../elsewhere")
    return saved(adding(outside("w", [4], "data/w.bin")), root / "m" / "model.onnx")


ACCEPTED = [beside, in_a_folder_below, up_and_down_inside, hugging_face_cache, hard_link, folder_is_a_link, link_inside_the_folder]
REFUSED = [only_the_data_is_a_link, links_into_two_folders, absolute, climbing, climbing_later, folder_link_out]


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("layout", ACCEPTED)
def test_accepted_places(layout, tmp_path):
    path = layout(tmp_path)
    assert session(path).run(None, {"x": np.zeros(4, np.float32)})[0].tolist() == [7, 7, 7, 7]
    loaded = load.load(path)
    assert tensors.array(loaded.proto.graph.initializer[0], loaded.base_dir).tolist() == [7, 7, 7, 7]


@pytest.mark.parametrize("layout", REFUSED)
def test_refused_places(layout, tmp_path):
    path = layout(tmp_path)
    with pytest.raises(Exception, match=r"(?i)external"):
        session(path)
    with pytest.raises(Unreadable) as caught:
        load.load(path)
    assert caught.value.code == "data-outside"
    assert "'w'" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("location", ["", "/etc/passwd", "C:/data.bin", "..\\w.bin", "a\0b"])
def test_odd_locations_are_refused(location, tmp_path):
    path = saved(adding(outside("w", [4], location)), tmp_path / "model.onnx")
    with pytest.raises(Unreadable) as caught:
        load.load(path)
    assert caught.value.code == "data-outside"


def test_a_model_in_memory_reads_from_the_given_folder_only(tmp_path):
    write_data(tmp_path / "w.bin", 7)
    model = adding(outside("w", [4], "w.bin"))
    with pytest.raises(Unreadable, match="folder is not known"):
        tensors.source(model.graph.initializer[0], load.load(model).base_dir)
    loaded = load.load(model, base_dir=tmp_path)
    assert tensors.array(model.graph.initializer[0], loaded.base_dir).tolist() == [7, 7, 7, 7]
    assert loaded.proto is model
    with pytest.raises(Unreadable, match="is no folder"):
        load.load(adding(numpy_helper.from_array(np.zeros(4, np.float32), "w")), base_dir=tmp_path / "missing")
