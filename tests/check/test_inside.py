"""What no output shows for the inputs at hand: values inside, and constants."""

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto

from qdqtool.check import CheckOptions, Report, check, inside
from tests.check.builders import FLOAT, model, node, saved

TABLE = np.arange(64, dtype=np.float32)


def _swallowed(factor: float = 1.0, op: str = "Mul", table: np.ndarray = TABLE) -> ModelProto:
    """The factor is rounded away, and most of the table is never read."""
    nodes = [
        node(op, ["x", "factor"], ["m"]),
        node("Ceil", ["m"], ["c"]),
        node("Gather", ["table", "first"], ["g"]),
        node("Add", ["c", "g"], ["y"]),
    ]
    return model(nodes, [("x", FLOAT, ["n", 4])], [("y", FLOAT)], factor=np.float32(factor), table=table, first=np.array([0]))


def _checked(tmp_path: Path, before: ModelProto, after: ModelProto) -> Report:
    return check(saved(before, tmp_path / "a.onnx"), saved(after, tmp_path / "b.onnx"), [], options=CheckOptions(info=False))


def test_a_value_that_is_rounded_away_later_is_seen(tmp_path: Path) -> None:
    after = _swallowed()
    after.graph.node[0].input[1] = "other"
    after.graph.initializer.add(name="other", data_type=FLOAT, raw_data=np.float32(1 + 2**-20).tobytes())
    report = _checked(tmp_path, _swallowed(), after)
    assert report.verdict == "different"
    assert [(c.where, c.verdict) for c in report.outputs] == [("output y", "equal"), ("value m inside", "different")]


def test_a_constant_that_is_never_read_there_is_seen(tmp_path: Path) -> None:
    wrong = TABLE.copy()
    wrong[63] = np.nextafter(wrong[63], np.float32(0))
    report = _checked(tmp_path, _swallowed(), _swallowed(table=wrong))
    assert [(c.where, c.verdict) for c in report.outputs] == [("output y", "equal"), ("constant table", "different")]


def test_constants_outside_of_the_file_are_read_where_they_differ_in_place(tmp_path: Path) -> None:
    def outside(name: str, values: np.ndarray) -> ModelProto:
        proto = _swallowed()
        (tmp_path / name).write_bytes(values.tobytes())
        table = next(tensor for tensor in proto.graph.initializer if tensor.name == "table")
        table.ClearField("raw_data")
        table.data_location = TensorProto.EXTERNAL
        table.external_data.add(key="location", value=name)
        return proto

    wrong = np.where(TABLE == 9, 8, TABLE).astype(np.float32)
    assert _checked(tmp_path, outside("w", TABLE), outside("w", TABLE)).verdict == "equal"
    assert _checked(tmp_path, outside("w", TABLE), outside("v", TABLE)).verdict == "equal"
    assert _checked(tmp_path, outside("w", TABLE), outside("v", wrong)).verdict == "different"


def test_equal_models_show_nothing_more(tmp_path: Path) -> None:
    assert [c.where for c in _checked(tmp_path, _swallowed(), _swallowed()).outputs] == ["output y"]


def test_random_values_are_left_out(tmp_path: Path) -> None:
    nodes = [node("RandomNormalLike", ["x"], ["r"]), node("Abs", ["r"], ["p"]), node("Relu", ["x"], ["s"]), node("Neg", ["s"], ["y"])]
    proto = model(nodes, [("x", FLOAT, [4])], [("p", FLOAT), ("y", FLOAT)])
    assert _checked(tmp_path, proto, proto).verdict == "equal"


def test_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "_MOST_BYTES", 4)
    after = _swallowed()
    after.graph.node[0].op_type = "Add"
    after.graph.node[0].input[1] = "first_float"
    after.graph.initializer.add(name="first_float", data_type=FLOAT, raw_data=np.float32(1e-30).tobytes())
    assert [c.where for c in _checked(tmp_path, _swallowed(), after).outputs] == ["output y"]
