import json
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto

from qdqtool import dtypes
from qdqtool.check import CheckOptions, Report, check
from qdqtool.check.compare import Comparison, Difference
from qdqtool.check.info import default_load, weight_only
from qdqtool.check.probe import Port, Probe
from qdqtool.check.sessions import Setting
from qdqtool.check.subject import Subject, data_folder, locations
from qdqtool.errors import Usage
from qdqtool.exactness import Exactness
from tests.check.builders import FLOAT, fragment, model, node, probe, saved

WEIGHT = np.random.default_rng(0).integers(-8, 8, (64, 16)).astype(np.int8)
SCALE = np.random.default_rng(1).uniform(0.1, 1, (2, 16)).astype(np.float32)


def _blocked(weight: np.ndarray = WEIGHT, scale: np.ndarray = SCALE, **attributes: int) -> ModelProto:
    nodes = [node("DequantizeLinear", ["w", "s"], ["d"], axis=0, block_size=32), node("MatMul", ["x", "d"], ["y"], name="project")]
    return model(nodes, [("x", FLOAT, ["n", 64])], [("y", FLOAT)], w=weight.astype(dtypes.INT4.numpy), s=scale)


def _externalized(proto: ModelProto, data: Path) -> ModelProto:
    tensor = proto.graph.initializer[0]
    data.write_bytes(tensor.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=data.name)
    return proto


def _step(scale: np.ndarray = SCALE, coverage: str = "") -> Probe:
    def side(dtype: dtypes.ElementType, values: np.ndarray) -> object:
        made = node("DequantizeLinear", ["w", "s"], ["d"], axis=0, block_size=32)
        return fragment([made], 21, [], Port("d", dtypes.FLOAT), w=WEIGHT.astype(dtype.numpy), s=values)

    return probe(side(dtypes.INT4, SCALE), side(dtypes.INT8, scale), output_in_model="d", coverage=coverage)  # type: ignore[arg-type]


def test_a_good_rewrite_is_equal(tmp_path: Path) -> None:
    path = saved(_blocked(), tmp_path / "m.onnx")
    report = check(path, path, [_step(coverage="128 of 4096 rows")])
    assert report.verdict == "equal"
    assert report.judge == "ONNX Runtime"
    assert report.complete
    assert report.summary() == "equal (ONNX Runtime), 1 of 1 steps, 1 output of the whole model"
    assert report.notes[0] == "main / step: 128 of 4096 rows"
    assert json.loads(json.dumps(report.to_dict()))["verdict"] == "equal"


def test_a_wrong_step_or_a_wrong_output_makes_the_whole_different(tmp_path: Path) -> None:
    good, bad = saved(_blocked(), tmp_path / "m.onnx"), saved(_blocked(scale=SCALE[::-1]), tmp_path / "bad.onnx")
    by_step = check(good, good, [_step(SCALE[::-1].copy())])
    by_model = check(good, bad, [_step()])
    assert by_step.verdict == "different"
    assert "main / step: different" in by_step.summary()
    assert by_model.verdict == "different"
    assert any("main / step: different" in note for note in by_model.notes)


def test_external_data_stays_where_it_is(tmp_path: Path) -> None:
    stage = tmp_path / "stage"
    stage.mkdir()
    proto = _externalized(_blocked(), tmp_path / "w.bin")
    old, new = saved(proto, tmp_path / "m.onnx"), saved(proto, stage / "m.onnx")
    assert check(old, new, []).summary() == "equal (ONNX Runtime), 0 of 0 steps, 1 output of the whole model"


def test_external_data_in_another_folder_is_named_by_base_dir(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    path = saved(_externalized(_blocked(), folder / "w.bin"), tmp_path / "m.onnx")
    assert check(path, path, [], options=CheckOptions(base_dir=folder)).verdict == "equal"


def test_data_in_two_folders_is_gathered_by_links_that_vanish(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    (old / "a.bin").write_bytes(b"a")
    (new / "b.bin").write_bytes(b"b")
    subject = Subject(new / "m.onnx", (new, old))
    with data_folder(subject, frozenset(("a.bin", "b.bin"))) as folder:
        assert sorted(p.name for p in folder.iterdir()) == ["a.bin", "b.bin"]
        assert (folder / "a.bin").samefile(old / "a.bin")
    assert not folder.exists()
    assert sorted(p.name for p in new.iterdir()) == ["b.bin"]


def test_locations_are_those_of_external_tensors(tmp_path: Path) -> None:
    assert locations(_blocked()) == frozenset()
    assert locations(_externalized(_blocked(), tmp_path / "w.bin")) == {"w.bin"}


def test_nothing_checked_is_no_success(tmp_path: Path) -> None:
    path = saved(model([node("Mine", ["x"], ["y"], domain="com.mine")], [("x", FLOAT, [2])], [("y", FLOAT)]), tmp_path / "m.onnx")
    report = check(path, path, [])
    assert (report.verdict, report.judge, report.complete) == ("not checked", "nobody", False)
    assert "not checked at model level: ONNX Runtime does not run the original" in report.summary()


def test_inputs_that_do_not_fit_are_the_users_error(tmp_path: Path) -> None:
    path = saved(_blocked(), tmp_path / "m.onnx")
    np.savez(tmp_path / "in.npz", other=np.ones(2))
    with pytest.raises(Usage, match="other, which is no input"):
        check(path, path, [], options=CheckOptions(inputs=tmp_path / "in.npz"))


def test_mixed_judges_are_counted() -> None:
    steps = (Comparison("a", "equal", Difference(1), "ONNX Runtime"), Comparison("b", "equal", Difference(1), "evaluator only"))
    report = Report(steps, (Comparison("output y", "within bound", Difference(1), "ONNX Runtime"),))
    assert report.judge == "evaluator only (1 of 3), ONNX Runtime (2 of 3)"
    assert report.verdict == "within bound"
    assert not Report((Comparison("a", "not checked", reason="r"),), report.outputs).complete


# What ONNX Runtime 1.32 makes of a result by default.


def _load_notes(proto: ModelProto, tmp_path: Path) -> tuple[str, ...]:
    path = saved(proto, tmp_path / "m.onnx")
    return default_load(Subject(path, (tmp_path,)), Setting())


def test_a_valid_model_that_the_optimizer_breaks_is_the_runtimes_fault(tmp_path: Path) -> None:
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        node("Reshape", ["d", "shape"], ["y"]),
    ]
    proto = model(nodes, [("x", FLOAT, [4, 4])], [("y", FLOAT)], s=np.float32(0.1), z=np.int8(0), shape=np.array([16]))
    (note,) = _load_notes(proto, tmp_path)
    assert note.startswith("ONNX Runtime fails to load the result with its default optimizations: ")
    assert note.endswith("; a fault of its QDQPropagationTransformer: disabled_optimizers=['QDQPropagationTransformer'] helps")


def test_a_model_that_does_not_load_at_all_is_not_blamed_on_the_optimizer(tmp_path: Path) -> None:
    assert _load_notes(model([node("Mine", ["x"], ["y"], domain="com.mine")], [("x", FLOAT, [2])], [("y", FLOAT)]), tmp_path) == ()


def test_fusions_that_change_results_are_named(tmp_path: Path) -> None:
    (note,) = _load_notes(_blocked(), tmp_path)
    assert note.startswith("ONNX Runtime's default optimizations turn MatMul project into MatMulNBits with int8 activations")


def test_no_fusion_is_told_of_a_model_that_never_loads(tmp_path: Path) -> None:
    proto = _blocked()
    proto.graph.node.append(node("Mine", ["x"], ["z"], domain="com.mine"))
    assert _load_notes(proto, tmp_path) == ()


def test_only_weight_only_products_are_named() -> None:
    quantized = _blocked()
    quantized.graph.node.insert(0, node("QuantizeLinear", ["x", "t"], ["xq"]))
    quantized.graph.node.insert(1, node("DequantizeLinear", ["xq", "t"], ["xd"]))
    quantized.graph.node[3].input[0] = "xd"
    small = _blocked()
    small.graph.node[0].attribute[1].i = 8
    assert weight_only(_blocked()) == ["project"]
    assert weight_only(quantized) == []
    assert weight_only(small) == []


def test_the_class_of_a_probe_reaches_the_report(tmp_path: Path) -> None:
    path = saved(_blocked(), tmp_path / "m.onnx")
    relu = fragment([node("Relu", ["x"], ["y"])], 21, [Port("x", dtypes.INT8, (8,))], Port("y", dtypes.INT8))
    report = check(path, path, [probe(relu, relu, Exactness.VALUE_EQUAL)], options=CheckOptions(info=False))
    assert report.verdict == "equal"
