"""Staging and publishing: what lands where, and that nothing else is touched."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.errors import QdqtoolError, Unreadable
from qdqtool.kernels.sources import ArraySource
from qdqtool.model import load, tensors, walk
from qdqtool.model.layout import ALIGNMENT
from qdqtool.model.stage import stage
from qdqtool.model.workshop import PREFIX
from tests.model.models import adding, floats, outside, read, saved, write_data

BIG = 2048
"""Floats of a tensor that is worth a data file."""


def publish(proto, out, pending=None, *, loaded=None, **options):
    staged = stage(proto, pending or {}, loaded=loaded or load.load(proto), out=out, **options)
    return staged.publish()


def run(path, count=4):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": np.zeros(count, np.float32)})[0]


def data_of(path: Path) -> dict[str, list[float]]:
    loaded = load.load(path)
    return {t.name: tensors.array(t, loaded.base_dir).tolist() for t in walk.tensors(loaded.proto)}


def names(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


@pytest.fixture
def model(tmp_path):
    """A model with one shard of two tensors, one of which is used by two names, and an inline one."""
    write_data(tmp_path / "in" / "model.data", 1, 2, 3, count=BIG)
    shared = [outside(name, [BIG], "model.data", BIG * 8, BIG * 4) for name in ("c", "tied")]
    return saved(adding(outside("a", [BIG], "model.data", 0), *shared, floats("d", 10, count=BIG)), tmp_path / "in" / "model.onnx")


def test_pending_data_lands_in_the_protobuf_and_the_caller_keeps_its_model(tmp_path):
    proto = adding(tensors.header("w", dtypes.FLOAT, (4,)))
    before = proto.SerializeToString()
    path = publish(proto, tmp_path / "out.onnx", {"w": ArraySource(np.array([1, 2, 3, 4], np.float32))})
    assert run(path).tolist() == [1, 2, 3, 4]
    assert proto.SerializeToString() == before
    assert names(tmp_path) == ["out.onnx"]
    onnx.checker.check_model(path, full_check=True)


@dataclass
class Counting:
    """Counts upwards; notes the longest range that was asked for."""

    dtype: ElementType
    shape: tuple[int, ...]
    longest: int = 0

    def read(self, start, stop):
        self.longest = max(self.longest, stop - start)
        return (np.arange(start, stop) % 7).astype(self.dtype.numpy)


@pytest.mark.parametrize("dtype", [dtypes.INT2, dtypes.INT4, dtypes.FLOAT6E3M2, dtypes.BFLOAT16], ids=str)
@pytest.mark.parametrize("name", [None, "w.bin"])
def test_large_data_is_written_tile_by_tile(dtype, name, tmp_path):
    count = (1 << 20) + 5
    source = Counting(dtype, (count,))
    proto = adding(tensors.header("w", dtype, (count,)))
    path = publish(proto, tmp_path / "out.onnx", {"w": source}, external_data=name)
    loaded = load.load(path)
    assert source.longest < count / 3
    found = tensors.array(loaded.proto.graph.initializer[0], loaded.base_dir)
    assert found.tobytes() == (np.arange(count) % 7).astype(dtype.numpy).tobytes()


def test_output_in_the_same_folder_refers_to_the_untouched_data(model):
    before = model.with_name("model.data").stat()
    loaded = load.load(model)
    staged = stage(loaded.proto, {}, loaded=loaded, out=model.with_name("out.onnx"))
    assert staged.data_files == ()
    assert run(staged.model, BIG)[0] == 17
    staged.publish()
    after = model.with_name("model.data").stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_nlink) == (before.st_ino, before.st_mtime_ns, 1)
    assert names(model.parent) == ["model.data", "model.onnx", "out.onnx"]
    assert read(model.with_name("out.onnx")) == loaded.proto


def test_output_elsewhere_gets_the_ranges_in_use_and_keeps_shards_and_ties(model, tmp_path):
    (tmp_path / "out").mkdir()
    path = publish(load.load(model).proto, tmp_path / "out" / "new.onnx", loaded=load.load(model))
    assert names(path.parent) == ["model.data", "new.onnx"]
    assert (path.parent / "model.data").stat().st_size == ALIGNMENT * 2 + BIG * 4
    assert data_of(path) == data_of(model)
    entries = {t.name: {e.key: e.value for e in t.external_data} for t in read(path).graph.initializer}
    assert entries["c"] == entries["tied"] == {"location": "model.data", "offset": str(ALIGNMENT * 2), "length": str(BIG * 4)}
    assert entries["d"] == {}
    assert run(path, BIG)[0] == 17


def test_new_data_of_a_model_with_data_files_goes_to_a_file_of_its_own(model):
    loaded = load.load(model)
    loaded.proto.graph.initializer[0].CopyFrom(tensors.header("a", dtypes.FLOAT, (BIG,)))
    source = ArraySource(np.full(BIG, 100, np.float32))
    path = publish(loaded.proto, model.with_name("out.onnx"), {"a": source}, loaded=loaded)
    assert names(model.parent) == ["model.data", "model.onnx", "out.onnx", "out.onnx.data"]
    assert run(path, BIG)[0] == 116


def test_named_external_data_takes_everything_but_the_small(model, tmp_path):
    loaded = load.load(model)
    loaded.proto.graph.initializer.append(floats("small", 5))
    (tmp_path / "out").mkdir()
    path = publish(loaded.proto, tmp_path / "out" / "new.onnx", loaded=loaded, external_data="all.bin")
    assert names(path.parent) == ["all.bin", "new.onnx"]
    places = {t.name: {e.key: e.value for e in t.external_data} for t in read(path).graph.initializer}
    assert {name for name, place in places.items() if place} == {"a", "c", "tied", "d"}
    assert all(int(place["offset"]) % ALIGNMENT == 0 for place in places.values() if place)
    assert data_of(path) == data_of(model) | {"small": [5] * 4}


def test_what_exceeds_a_protobuf_goes_out_by_itself(tmp_path):
    proto = adding(floats("a", 1, count=BIG), tensors.header("b", dtypes.FLOAT, (BIG,)))
    pending = {"b": ArraySource(np.full(BIG, 2, np.float32))}
    inline = publish(proto, tmp_path / "in.onnx", pending, limit=BIG * 8 + 1000)
    spilt = publish(proto, tmp_path / "out.onnx", pending, limit=BIG * 8)
    assert names(tmp_path) == ["in.onnx", "out.onnx", "out.onnx.data"]
    assert spilt.stat().st_size < 1000
    assert data_of(spilt) == data_of(inline)
    assert run(spilt, BIG)[0] == 3


def test_an_unchanged_model_comes_back_as_the_same_bytes(model, tmp_path):
    model.write_bytes(model.read_bytes() + b"\xfa\x3e\x03abc")
    (tmp_path / "out").mkdir()
    for out in (model.with_name("copy.onnx"), tmp_path / "out" / "model.onnx"):
        loaded = load.load(model)
        publish(loaded.proto, out, loaded=loaded, unchanged=True)
        assert out.read_bytes() == model.read_bytes()
        assert (out.parent / "model.data").read_bytes() == (model.parent / "model.data").read_bytes()


def test_an_unchanged_model_beside_other_data_of_that_name_refers_to_its_own(model, tmp_path):
    write_data(tmp_path / "out" / "model.data", 9, count=BIG)
    loaded = load.load(model)
    path = publish(loaded.proto, tmp_path / "out" / "model.onnx", loaded=loaded, unchanged=True)
    assert data_of(path) == data_of(model)
    assert np.fromfile(tmp_path / "out" / "model.data", np.float32)[0] == 9
    assert len(names(path.parent)) == 3


def test_unknown_fields_and_metadata_survive_at_every_level(tmp_path):
    unknown = b"\xfa\x3e\x03abc\xf0\x3e\x07\xfd\x3e\1\2\3\4\xf9\x3e\1\2\3\4\5\6\7\x08\xfb\x3e\xf0\x3e\x01\xfc\x3e"
    proto = adding(floats("a", 1), tensors.header("b", dtypes.FLOAT, (4,)))
    body = helper.make_graph([helper.make_node("Constant", [], ["k"], value=tensors.header("inner", dtypes.FLOAT, (4,)))], "body", [], [])
    proto.graph.node.append(helper.make_node("If", ["c"], ["z"], then_branch=body))
    last = proto.graph.node[-1]
    for message in [proto, proto.graph, proto.graph.node[0], last, last.attribute[0], proto.graph.initializer[1]]:
        message.MergeFromString(unknown)
        message.doc_string = "doc"
        if hasattr(message, "metadata_props"):
            message.metadata_props.add(key="k", value="v")
    pending = {name: ArraySource(np.full(4, 2, np.float32)) for name in ("b", "inner")}
    written = read(publish(proto, tmp_path / "out.onnx", pending))
    for tensor in walk.tensors(proto):
        if tensor.name in pending:
            tensor.raw_data = pending[tensor.name].array.tobytes()
    assert written == proto
    assert written.SerializeToString(deterministic=True) == proto.SerializeToString(deterministic=True)


def external_everywhere(folder: Path) -> ModelProto:
    """External tensors in every place that can hold one."""
    place = iter(range(100))

    def tensor(name: str) -> TensorProto:
        offset = next(place) * BIG * 4
        return outside(name, [BIG], "all.bin", offset)

    def constant(name: str) -> onnx.NodeProto:
        return helper.make_node("Constant", [], [name], value=tensor(name + "_t"))

    proto = adding(tensor("init"))
    body = helper.make_graph([constant("sub")], "body", [], [], initializer=[tensor("sub_init")])
    proto.graph.node.extend([constant("node"), helper.make_node("If", ["c"], ["z"], then_branch=body)])
    proto.functions.append(helper.make_function("f", "F", [], ["k"], [constant("k")], [helper.make_opsetid("", 21)]))
    sparse = proto.graph.sparse_initializer.add(dims=[BIG * 2])
    sparse.values.CopyFrom(tensor("sparse"))
    sparse.indices.CopyFrom(numpy_helper.from_array(np.arange(BIG), "i"))
    training = proto.training_info.add()
    training.algorithm.CopyFrom(helper.make_graph([constant("train")], "t", [], [], initializer=[tensor("train_init")]))
    write_data(folder / "all.bin", *range(next(place)), count=BIG)
    return proto


def test_external_tensors_move_along_from_every_place(tmp_path):
    proto = external_everywhere(tmp_path / "in")
    path = saved(proto, tmp_path / "in" / "model.onnx")
    assert sum(bool(t.external_data) for t in walk.tensors(proto)) == 8
    (tmp_path / "out").mkdir()
    out = publish(proto, tmp_path / "out" / "model.onnx", loaded=load.load(path), external_data="new.bin")
    assert data_of(out) == data_of(path)
    assert {e.value for t in walk.tensors(read(out)) for e in t.external_data if e.key == "location"} == {"new.bin"}


def test_entries_that_other_tools_wrote_stay_but_for_the_checksum(model, tmp_path):
    loaded = load.load(model)
    for key in ("checksum", "custom"):
        loaded.proto.graph.initializer[0].external_data.add(key=key, value="1")
    (tmp_path / "out").mkdir()
    path = publish(loaded.proto, tmp_path / "out" / "model.onnx", loaded=loaded)
    assert [e.key for e in read(path).graph.initializer[0].external_data] == ["location", "offset", "length", "custom"]


def test_data_in_another_models_place_gets_a_name_of_its_own(model, tmp_path):
    write_data(tmp_path / "out" / "model.data", 9, count=BIG)
    loaded = load.load(model)
    path = publish(loaded.proto, tmp_path / "out" / "new.onnx", loaded=loaded)
    assert np.fromfile(tmp_path / "out" / "model.data", np.float32)[0] == 9
    assert data_of(path) == data_of(model)
    again = publish(loaded.proto, path, loaded=loaded, overwrite=True)
    assert len(names(tmp_path / "out")) == 3
    assert data_of(again) == data_of(model)


def test_overwriting_removes_data_that_nothing_else_mentions(tmp_path):
    (tmp_path / "other").mkdir()
    for content in (1, 2, 3):
        proto = adding(tensors.header("w", dtypes.FLOAT, (BIG,)))
        pending = {"w": ArraySource(np.full(BIG, content, np.float32))}
        path = publish(proto, tmp_path / "m.onnx", pending, external_data="w.bin", overwrite=True)
        assert run(path, BIG)[0] == content
        assert len(names(tmp_path)) == 2


def test_overwriting_keeps_data_that_another_model_mentions(tmp_path):
    write_data(tmp_path / "w.bin", 1, count=BIG)
    first, second = (saved(adding(outside("w", [BIG], "w.bin")), tmp_path / name) for name in ("a.onnx", "b.onnx"))
    publish(adding(floats("w", 2, count=BIG)), first, overwrite=True)
    assert run(second, BIG)[0] == 1
    publish(adding(floats("w", 2, count=BIG)), second, overwrite=True)
    assert names(tmp_path) == ["a.onnx", "b.onnx"]


def test_a_hugging_face_snapshot_is_copied_from_and_never_written_through(tmp_path):
    write_data(tmp_path / "blobs" / "22bb", 7, count=BIG)
    saved(adding(outside("w", [BIG], "w.bin")), tmp_path / "blobs" / "11aa")
    folder = tmp_path / "snapshots" / "main"
    folder.mkdir(parents=True)
    (folder / "model.onnx").symlink_to("../../blobs/11aa")
    (folder / "w.bin").symlink_to("../../blobs/22bb")
    loaded = load.load(folder / "model.onnx")
    before = (tmp_path / "blobs" / "11aa").read_bytes()
    for out in (folder / "new.onnx", folder / "model.onnx"):
        publish(loaded.proto, out, loaded=loaded, overwrite=True)
        assert not out.is_symlink()
        assert run(out, BIG)[0] == 7
    assert (tmp_path / "blobs" / "11aa").read_bytes() == before
    assert (folder / "w.bin").is_symlink()


def test_results_are_files_with_the_modes_of_the_umask(model, tmp_path):
    (tmp_path / "out").mkdir()
    old = os.umask(0o027)
    try:
        path = publish(load.load(model).proto, tmp_path / "out" / "m.onnx", loaded=load.load(model))
    finally:
        os.umask(old)
    for name in names(path.parent):
        info = (path.parent / name).lstat()
        assert (stat.S_IMODE(info.st_mode), info.st_nlink, stat.S_ISREG(info.st_mode)) == (0o640, 1, True)


def test_the_same_result_has_the_same_bytes(model, tmp_path):
    found = []
    for name in ("1", "2"):
        (tmp_path / name).mkdir()
        path = publish(load.load(model).proto, tmp_path / name / "m.onnx", loaded=load.load(model))
        found.append([(path.parent / n).read_bytes() for n in names(path.parent)])
    assert found[0] == found[1]


def test_discarding_leaves_nothing(model):
    staged = stage(load.load(model).proto, {}, loaded=load.load(model), out=model.with_name("out.onnx"), external_data="x.bin")
    assert staged.model.exists()
    staged.discard()
    assert sorted(os.listdir(model.parent)) == ["model.data", "model.onnx"]


def test_without_hard_links_the_staged_model_still_runs(model, monkeypatch):
    def refuse(*_):
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(os, "copy_file_range", refuse, raising=False)
    staged = stage(load.load(model).proto, {}, loaded=load.load(model), out=model.with_name("out.onnx"))
    assert run(staged.model, BIG)[0] == 17
    staged.discard()


BAD = [
    ("overlap", [outside("a", [4], "w.bin", 0), outside("b", [4], "w.bin", 8)], "data-overlap"),
    ("inside", [outside("a", [8], "w.bin", 0), outside("b", [4], "w.bin", 8)], "data-overlap"),
    ("missing", [outside("a", [4], "no.bin")], "data-missing"),
    ("short", [outside("a", [400], "w.bin")], "data-short"),
]


@pytest.mark.parametrize(("constants", "code"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_data_leaves_nothing_behind(constants, code, tmp_path):
    write_data(tmp_path / "w.bin", 1, 2)
    path = saved(adding(*constants, shape=[4]), tmp_path / "m.onnx")
    loaded = load.load(path)
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    with pytest.raises(Unreadable) as caught:
        stage(loaded.proto, {}, loaded=loaded, out=tmp_path / "out.onnx")
    assert caught.value.code == code
    assert "'a'" in caught.value.message
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before
    assert not list(tmp_path.glob(PREFIX + "*"))


def test_a_source_that_fails_or_lies_about_its_shape_leaves_nothing_behind(tmp_path):
    proto = adding(tensors.header("w", dtypes.FLOAT, (4,)))
    with pytest.raises(QdqtoolError, match="is declared"):
        stage(proto, {"w": ArraySource(np.zeros(5, np.float32))}, loaded=load.load(proto), out=tmp_path / "out.onnx")

    class Failing(Counting):
        def read(self, start, stop):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stage(proto, {"w": Failing(dtypes.FLOAT, (4,))}, loaded=load.load(proto), out=tmp_path / "out.onnx")
    assert not list(tmp_path.iterdir())


def test_impossible_outputs(model, tmp_path):
    loaded = load.load(model)

    def code(out, **options):
        with pytest.raises(QdqtoolError) as caught:
            stage(loaded.proto, {}, loaded=loaded, out=out, **options)
        return caught.value.code

    assert code(model) == "output-exists"
    assert code(model.parent) == "output-is-folder"
    assert code(model.with_name("model.data"), overwrite=True) == "output-is-data"
    assert code(tmp_path / "no" / "out.onnx") == "no-such-folder"
    assert code(tmp_path / "out.onnx", external_data="out.onnx") == "external-data-name"
    for name in ("", "..", ".", "../w.bin", "/w.bin", "folder/w.bin", "C:w.bin", "w\0"):
        assert code(tmp_path / "out.onnx", external_data=name) == "external-data-name"
