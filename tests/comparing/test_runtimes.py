"""One model in two runtimes: rounding, known faults and joined nodes told apart."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, load

import qdqtool
from qdqtool.check import runtimes
from qdqtool.check.sessions import CannotRun
from qdqtool.check.subject import Subject
from qdqtool.errors import Usage
from tests.check.builders import model, node, saved
from tests.comparing import networks
from tests.comparing.faults import own, times

FLOAT, FLOAT16 = TensorProto.FLOAT, TensorProto.FLOAT16
needs_qnn = pytest.mark.skipif(find_spec("onnxruntime_qnn") is None, reason="QNN is not installed: pip install 'qdqtool[qnn]'")
needs_openvino = pytest.mark.skipif(find_spec("openvino") is None, reason="openvino is not installed: pip install 'qdqtool[openvino]'")


def odd_zero_point() -> ModelProto:
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"], name="in/Q"),
        node("DequantizeLinear", ["q", "s", "z"], ["d"], name="in/DQ"),
        node("Relu", ["d"], ["y"], name="relu"),
    ]
    return model(nodes, [("x", FLOAT, ["n", 8])], [("y", FLOAT)], opset=13, s=np.float32(0.25), z=np.uint8(131))


def weight_only() -> ModelProto:
    """What ONNX Runtime makes MatMulNBits of, with int8 activations, by default."""
    return networks.blocks()


@pytest.mark.parametrize("network", [networks.convolutions, networks.packed, networks.integer_operators])
def test_another_interpreter_gives_the_same(network: object) -> None:
    found = qdqtool.compare(network(), python=sys.executable)  # type: ignore[operator]
    assert found.verdict == "equal"
    assert found.runs[0].second == f"ort ({sys.executable})"
    assert found.runs[0].compared > 2


def test_faults_are_found_in_another_interpreter_too() -> None:
    changed = networks.convolutions()
    changed.graph.node[0].input[1] = "s1"
    found = qdqtool.compare(networks.convolutions(), changed, python=sys.executable)
    assert found.first is not None
    assert (found.verdict, found.first.where) == ("different", "main / in/Q")


def test_what_does_not_run_elsewhere_is_told(tmp_path: Path) -> None:
    subject = Subject(saved(networks.convolutions(), tmp_path / "m.onnx"), (tmp_path,))
    where = runtimes.runtime("ort", Path(sys.executable))
    with pytest.raises(CannotRun, match="Got invalid dimensions"):
        runtimes.run(where, subject.proto(), subject, {"x": np.zeros((1, 2, 3, 4), np.float32)}, ["y"])


def test_a_runtime_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Usage, match="'tensorflow' here"):
        qdqtool.compare(odd_zero_point(), runtimes=["tensorflow"])
    with pytest.raises(Usage, match="is no interpreter"):
        qdqtool.compare(odd_zero_point(), python=tmp_path / "python")
    with pytest.raises(Usage, match="gives one result"):
        qdqtool.compare(odd_zero_point())


def test_joined_nodes_are_blamed_on_the_runtime() -> None:
    found = qdqtool.compare(weight_only(), optimized=True)
    assert found.verdict == "fusion"
    assert found.first is not None
    assert found.first.where == "main / l0"
    assert any("MatMulNBits: it quantizes the activations to int8" in reason for reason in found.first.reasons)
    assert any("disabled_optimizers" in reason for reason in found.first.reasons)
    assert not found.ok


def test_default_optimizations_that_change_nothing() -> None:
    assert qdqtool.compare(networks.convolutions(), optimized=True).ok


@needs_openvino
@pytest.mark.parametrize("network", [networks.convolutions, networks.packed])
def test_openvino_computes_the_same(network: object) -> None:
    assert qdqtool.compare(network(), runtimes=["ort", "openvino"]).ok  # type: ignore[operator]


@needs_openvino
def test_ties_beside_an_odd_zero_point_are_a_known_fault(tmp_path: Path) -> None:
    np.savez(tmp_path / "ties.npz", x=(np.arange(64).reshape(8, 8) / 8).astype(np.float32))
    found = qdqtool.compare(odd_zero_point(), runtimes=["openvino"], inputs=tmp_path / "ties.npz")
    assert found.first is not None
    assert (found.verdict, found.first.where) == ("known fault", "main / in/Q")
    assert "is odd" in found.first.reasons[1]


@needs_openvino
def test_activations_that_openvino_quantizes_are_blamed_on_it() -> None:
    found = qdqtool.compare(networks.packed(), runtimes=["openvino"], optimized=True)
    assert found.first is not None
    assert (found.verdict, found.first.also) == ("fusion", ("main / l1",))


@needs_openvino
def test_a_fault_of_the_model_is_found_in_openvino() -> None:
    changed = networks.convolutions()
    changed.graph.node[2].attribute[0].i = 1
    found = qdqtool.compare(networks.convolutions(), changed, runtimes=["openvino"])
    assert found.first is not None
    assert (found.verdict, found.first.where, found.first.reasons) == ("different", "main / conv0/w", ("axis 0 became 1",))


@needs_openvino
def test_outputs_too_far_apart_for_rounding_are_not_called_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    assert qdqtool.compare(networks.blocks(), runtimes=["openvino"]).verdict == "rounding"
    monkeypatch.setattr("qdqtool.comparing.outputs._EXPLAINED", 0.0)
    found = qdqtool.compare(networks.blocks(), runtimes=["openvino"])
    assert (found.verdict, found.first) == ("fusion", None)
    assert "further apart than these roundings explain" in found.runs[0].notes[0]


@needs_qnn
def test_qnn_is_off_by_steps_only(fixtures: Path) -> None:
    found = qdqtool.compare(fixtures / "conv_13.onnx", runtimes=["qnn"])
    assert found.ok
    assert found.runs[0].compared == 4


@needs_qnn
def test_a_fault_of_the_model_is_found_in_qnn(fixtures: Path) -> None:
    changed = load(fixtures / "conv_13.onnx")
    own(changed, changed.graph.node[0], 1, times(2), np.random.default_rng(0))
    found = qdqtool.compare(fixtures / "conv_13.onnx", changed, runtimes=["qnn"])
    assert found.first is not None
    assert (found.verdict, found.first.where) == ("different", "main / conv/x/QuantizeLinear")


@needs_qnn
def test_what_would_fall_back_to_the_cpu_does_not_run_in_qnn() -> None:
    found = qdqtool.compare(networks.fake_quantized(), runtimes=["qnn"])
    assert found.verdict == "not compared"
    assert "fallback to CPU EP has been explicitly disabled" in found.runs[0].notes[0]
