from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto

from qdqtool.check import sessions
from qdqtool.check.sessions import CannotRun, Setting
from tests.check.builders import FLOAT, INT8, model, node

SETTING = Setting()


def _refusal(proto: object, setting: Setting = SETTING) -> CannotRun:
    with pytest.raises(CannotRun) as caught, sessions.session(proto.SerializeToString(), setting):  # type: ignore[attr-defined]
        pass
    return caught.value


def test_a_missing_kernel_is_told_from_an_invalid_graph(capfd: pytest.CaptureFixture[str]) -> None:
    e8m0 = model([node("Identity", ["x"], ["y"])], [("x", TensorProto.FLOAT8E8M0, [3])], [("y", TensorProto.FLOAT8E8M0)], opset=25)
    wrong = model([node("Softmax", ["x"], ["y"])], [("x", INT8, [3])], [("y", INT8)])
    assert _refusal(e8m0).missing
    assert str(_refusal(e8m0)) == "Could not find an implementation for Identity(25) node with name ''"
    assert not _refusal(wrong).missing
    assert str(_refusal(wrong)).startswith("Type Error: Type 'tensor(int8)' of input parameter (x) of operator (Softmax)")
    assert capfd.readouterr() == ("", "")


def test_a_failing_kernel_gives_one_plain_line(capfd: pytest.CaptureFixture[str]) -> None:
    proto = model([node("MatMul", ["x", "x"], ["y"])], [("x", FLOAT, ["a", "b"])], [("y", FLOAT)])
    with sessions.session(proto.SerializeToString(), SETTING) as opened:
        with pytest.raises(CannotRun) as caught:
            sessions.run(opened, {"x": np.zeros((2, 3), np.float32)}, ["y"])
        with pytest.raises(CannotRun, match=r"Required inputs \(\['x'\]\) are missing"):
            sessions.run(opened, {}, ["y"])
    assert "/" not in str(caught.value).replace("matmul_helper.h", "")
    assert "dimension mismatch" in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_library_that_is_not_there_is_a_reason() -> None:
    proto = model([node("Relu", ["x"], ["y"])], [("x", FLOAT, [3])], [("y", FLOAT)])
    assert "nowhere.so" in str(_refusal(proto, Setting(custom_ops=(Path("nowhere.so"),))))


def test_sequences_come_back_as_lists() -> None:
    nodes = [node("SplitToSequence", ["x"], ["s"], axis=0), node("Relu", ["x"], ["y"])]
    proto = model(nodes, [("x", FLOAT, [2, 3])], [("y", FLOAT)])
    proto.graph.output.add(name="s").type.sequence_type.elem_type.tensor_type.elem_type = FLOAT
    with sessions.session(proto.SerializeToString(), SETTING) as opened:
        results = sessions.run(opened, {"x": np.ones((2, 3), np.float32)}, ["y", "s"])
    assert isinstance(results["s"], list)
    assert len(results["s"]) == 2
    assert np.asarray(results["y"]).shape == (2, 3)
