from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto

from qdqtool import dtypes
from qdqtool.check.generate import NoInputs, Wishes, generated
from qdqtool.check.given import given
from qdqtool.check.signature import Input, signature
from qdqtool.errors import Usage
from qdqtool.model import tensors
from tests.check.builders import FLOAT, INT8, INT64, model, node

TABLE = np.zeros((11, 4), np.float32)


def _inputs(proto: ModelProto, attempt: int = 0, wishes: Wishes | None = None) -> dict[str, np.ndarray]:
    return list(generated(signature(proto), wishes or Wishes()))[attempt]


def _language_model() -> ModelProto:
    nodes = [node("Cast", ["input_ids"], ["i"], to=7), node("Gather", ["table", "i"], ["y"]), node("Identity", ["attention_mask"], ["m"])]
    inputs = [
        ("input_ids", INT64, ["batch_size", "sequence_length"]),
        ("attention_mask", INT64, ["batch_size", "total_sequence_length"]),
        ("position_ids", INT64, ["batch_size", "sequence_length"]),
        ("token_type_ids", INT64, ["batch_size", "sequence_length"]),
        ("past_key_values.0.key", FLOAT, ["batch_size", 2, "past_sequence_length", 8]),
    ]
    return model(nodes, inputs, [("y", FLOAT), ("m", INT64)], table=TABLE)


def test_a_language_model_gets_ids_positions_masks_and_a_past_that_agree() -> None:
    made = _inputs(_language_model())
    batch, length = made["input_ids"].shape
    past = made["past_key_values.0.key"].shape[2]
    assert batch > 1
    assert length > 1
    assert past > 1
    assert made["attention_mask"].shape == (batch, past + length)
    assert (made["attention_mask"] == 1).all()
    assert made["input_ids"].min() >= 0
    assert 1 < made["input_ids"].max() < 11
    assert (made["position_ids"] == np.arange(length)).all()
    assert set(np.unique(made["token_type_ids"])) <= {0, 1}


def test_an_index_stays_within_a_dequantized_table_along_its_axis() -> None:
    nodes = [node("DequantizeLinear", ["table", "s"], ["d"]), node("Gather", ["d", "at"], ["y"], axis=1)]
    proto = model(nodes, [("at", INT64, [500])], [("y", FLOAT)], table=np.zeros((100, 3), np.int8), s=np.float32(1))
    assert set(_inputs(proto)["at"]) == {0, 1, 2}


def test_one_size_per_symbol_and_never_one() -> None:
    proto = model([node("Add", ["a", "b"], ["y"])], [("a", FLOAT, ["p", "m"]), ("b", FLOAT, ["m", None])], [("y", FLOAT)])
    made = _inputs(proto)
    assert made["a"].shape[1] == made["b"].shape[0]
    assert min(*made["a"].shape, *made["b"].shape) > 1
    assert _inputs(proto, 1)["a"].shape == (8, 8)


def test_wishes_for_sizes_and_inputs_are_kept() -> None:
    proto = model([node("Add", ["a", "b"], ["y"])], [("a", FLOAT, ["n", None]), ("b", FLOAT, ["n"])], [("y", FLOAT)])
    made = _inputs(proto, wishes=Wishes(dims={"n": 9, "a:1": 4}))
    assert (made["a"].shape, made["b"].shape) == ((9, 4), (9,))
    mine = np.full((3, 2), 5.0)
    made = _inputs(proto, wishes=Wishes(inputs={"a": mine}))
    assert (made["a"] == 5).all()
    assert made["a"].dtype == np.float32
    assert made["b"].shape == (3,)


def test_inputs_with_a_default_keep_it() -> None:
    proto = model([node("Add", ["a", "b"], ["y"])], [("a", FLOAT, [2]), ("b", FLOAT, [2])], [("y", FLOAT)], b=np.ones(2, np.float32))
    assert list(_inputs(proto)) == ["a"]


def test_fixed_shapes_give_one_trial_and_one_seed_one_input() -> None:
    proto = model([node("Relu", ["a"], ["y"])], [("a", FLOAT, [4, 4])], [("y", FLOAT)])
    trials = list(generated(signature(proto), Wishes(seed=3)))
    assert len(trials) == 1
    assert (trials[0]["a"] == _inputs(proto, wishes=Wishes(seed=3))["a"]).all()
    assert (trials[0]["a"] != _inputs(proto, wishes=Wishes(seed=4))["a"]).any()


@pytest.mark.parametrize(
    ("name", "dtype", "low", "high"),
    [
        ("codes", INT8, -128, 127),
        ("bits", TensorProto.BOOL, 0, 1),
        ("count", INT64, 1, 3),
        ("pad_mask", TensorProto.BOOL, 1, 1),
        ("sr", INT64, 16000, 16000),
    ],
)
def test_values_fit_their_type_and_name(name: str, dtype: int, low: int, high: int) -> None:
    proto = model([node("Identity", [name], ["y"])], [(name, dtype, [200])], [("y", dtype)])
    made = _inputs(proto)[name]
    assert made.astype(int).min() >= low
    assert made.astype(int).max() <= high
    assert made.any()


def test_what_cannot_be_made_up_says_so() -> None:
    proto = model([node("Relu", ["a"], ["y"])], [("a", FLOAT, None)], [("y", FLOAT)])
    with pytest.raises(NoInputs, match=r"input a has no known rank; give one with --inputs"):
        _inputs(proto)
    assert _inputs(proto, wishes=Wishes(inputs={"a": np.ones(3)}))["a"].shape == (3,)
    proto.graph.input[0].type.Clear()
    proto.graph.input[0].type.sequence_type.elem_type.tensor_type.elem_type = FLOAT
    with pytest.raises(NoInputs, match="is no tensor"):
        _inputs(proto)


def _port(name: str, *dims: int | str | None) -> Input:
    return Input(name, dtypes.FLOAT, dims)


def test_inputs_from_npz_by_name_and_by_position(tmp_path: Path) -> None:
    np.savez(tmp_path / "named.npz", **{"a": np.ones(2), "b_0": np.zeros(2)})
    np.savez(tmp_path / "placed.npz", np.ones(2), np.zeros(2))
    for file in ("named.npz", "placed.npz"):
        arrays = given(tmp_path / file, [_port("a", 2), _port("b/0", "n")])
        assert arrays["a"].all()
        assert not arrays["b/0"].any()


def test_inputs_from_a_folder(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones(2))
    (tmp_path / "input_1.pb").write_bytes(tensors.make("", np.zeros(3, np.int8)).SerializeToString())
    (tmp_path / "output_0.pb").write_bytes(b"not read")
    arrays = given(tmp_path, [_port("a", None), Input("b", dtypes.INT8, None)])
    assert arrays["a"].shape == (2,)
    assert arrays["b"].dtype == np.int8


def test_bad_inputs_are_usage_errors(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no archive")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.pb").write_bytes(b"\xff\xff")
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "notes.txt").write_text("no array")
    np.savez(tmp_path / "nothing.npz")
    np.savez(tmp_path / "other.npz", z=np.ones(1))
    for name, message in [
        ("none.npz", "does not exist"),
        ("text.npz", "no .npz file"),
        ("folder", "no tensor"),
        ("other.npz", "z, which is no input"),
        ("bare", "no inputs in .*bare"),
        ("nothing.npz", "no inputs in .*nothing.npz"),
    ]:
        with pytest.raises(Usage, match=message):
            given(tmp_path / name, [_port("a", 1)])


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.ones((3, 5), np.float32), "wanted float32[batch, 64], given float32[3, 5]"),
        (np.ones(64, np.float32), "wanted float32[batch, 64], given float32[64]"),
        (np.full((3, 64), "text"), "wanted float32[batch, 64], given text[3, 64]"),
    ],
)
def test_an_array_of_another_shape_is_a_usage_error(tmp_path: Path, array: np.ndarray, said: str) -> None:
    np.savez(tmp_path / "x.npz", x=array)
    with pytest.raises(Usage) as caught:
        given(tmp_path / "x.npz", [_port("x", "batch", 64)])
    assert (caught.value.code, caught.value.why) == ("unfitting-input", said)
    assert caught.value.message == f"input x of {tmp_path / 'x.npz'} does not fit the model"


def test_open_sizes_take_any_array(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.ones((3, 5, 64)))
    for dims in (("batch", None, 64), (-1, 5, -1)):
        assert given(tmp_path / "x.npz", [_port("x", *dims)])["x"].shape == (3, 5, 64)


def test_a_zero_point_of_a_small_float_is_zero() -> None:
    nodes = [node("DequantizeLinear", ["x", "s", "z"], ["y"])]
    proto = model(nodes, [("x", TensorProto.FLOAT8E4M3FN, [4]), ("z", TensorProto.FLOAT8E4M3FN, [])], [("y", FLOAT)], s=np.float32(1))
    inputs = next(generated(signature(proto), Wishes()))
    assert inputs["z"].astype(np.float32) == 0
    assert (inputs["x"].astype(np.float32) != 0).any()


def test_common_sizes_that_fill_the_memory_are_not_tried() -> None:
    proto = model([node("Neg", ["x"], ["y"])], [("x", FLOAT, ["a", "b", "c", "d"])], [("y", FLOAT)])
    shapes = [made["x"].shape for made in generated(signature(proto), Wishes())]
    assert (64, 64, 64, 64) in shapes
    assert all(size != 224 for shape in shapes for size in shape)
    assert shapes[-1] == (1, 1, 1, 1)
