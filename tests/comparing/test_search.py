"""What is found in odd circumstances: large models, faults that no output shows, values that only share a name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, load

import qdqtool
from qdqtool.comparing import watching
from qdqtool.errors import Unreadable, Usage
from qdqtool.model import tensors
from tests.check.builders import model, node
from tests.comparing import networks
from tests.comparing.faults import constant, own, times

FLOAT = TensorProto.FLOAT


def changed(original: ModelProto) -> ModelProto:
    copy = ModelProto()
    copy.CopyFrom(original)
    return copy


def chain(length: int, *, wrong: int = -1) -> ModelProto:
    """Many layers, one of which adds too much."""
    rng = np.random.default_rng(0)
    weights = {f"w{k}": rng.normal(0, 0.3, (16, 16)).astype(np.float32) for k in range(length)}
    biases = {f"b{k}": np.float32(0.1 if k != wrong else 0.7) for k in range(length)}
    nodes = []
    for k in range(length):
        nodes += [
            node("MatMul", [f"x{k}", f"w{k}"], [f"m{k}"], name=f"l{k}/matmul"),
            node("Add", [f"m{k}", f"b{k}"], [f"a{k}"], name=f"l{k}/add"),
        ]
        nodes += [node("Tanh", [f"a{k}"], [f"x{k + 1}"], name=f"l{k}/tanh")]
    return model(nodes, [("x0", FLOAT, [4, 16])], [(f"x{length}", FLOAT)], opset=13, **weights, **biases)


@pytest.mark.parametrize("wrong", [0, 17, 39])
def test_the_search_grows_finer_where_not_all_values_fit(monkeypatch: pytest.MonkeyPatch, wrong: int) -> None:
    monkeypatch.setattr(watching, "ROOM", 12 * 4 * 16 * 4)
    found = qdqtool.compare(chain(40), chain(40, wrong=wrong))
    assert found.first is not None
    assert (found.first.where, found.first.reasons) == (f"main / l{wrong}/add", (f"B b{wrong}: it is 7 x as large (0.1 became 0.7)",))


def test_what_only_follows_is_counted_and_not_listed() -> None:
    found = qdqtool.compare(chain(5), chain(5, wrong=2))
    run = found.runs[0]
    assert [place.where for place in run.places] == ["main / l2/add"]
    assert run.following == 7


def test_two_faults_are_two_places() -> None:
    other = chain(6, wrong=4)
    own(other, other.graph.node[1], 1, times(2), np.random.default_rng(0))
    assert [place.where for place in qdqtool.compare(chain(6), other).runs[0].places] == ["main / l0/add", "main / l4/add"]


def test_a_fault_of_one_constant_is_one_place_with_all_its_readers() -> None:
    other = networks.convolutions()
    constant(other, "s1").raw_data = np.float32(0.08).tobytes()
    found = qdqtool.compare(networks.convolutions(), other)
    assert found.first is not None
    assert (found.first.where, found.first.also) == ("main / mid/Q", ("main / mid/DQ",))


def test_a_fault_that_no_output_shows_is_found() -> None:
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"], name="Q"),
        node("DequantizeLinear", ["q", "s", "z"], ["d"], name="DQ"),
        node("Mul", ["d", "none"], ["y"], name="swallow"),
    ]
    original = model(nodes, [("x", FLOAT, [8])], [("y", FLOAT)], opset=13, s=np.float32(0.1), z=np.uint8(3), none=np.float32(0))
    other = changed(original)
    other.graph.node[0].input[1] = "double"
    other.graph.initializer.append(helper.make_tensor("double", FLOAT, [], [0.2]))
    found = qdqtool.compare(original, other)
    assert found.first is not None
    assert (found.verdict, found.first.where) == ("different", "main / Q")
    assert "the outputs are equal for these inputs" in found.runs[0].notes[0]


def test_larger_inputs_are_tried_where_nothing_shows() -> None:
    limits = {"low": np.float32(-100), "high": np.float32(9), "more": np.float32(12)}
    original = model([node("Clip", ["x", "low", "high"], ["y"], name="limit")], [("x", FLOAT, [64])], [("y", FLOAT)], opset=13, **limits)
    other = changed(original)
    other.graph.node[0].input[2] = "more"
    found = qdqtool.compare(original, other)
    assert found.first is not None
    assert found.first.reasons == ("max high: it is 1.333 x as large (9 became 12)",)
    assert "six times" in found.runs[0].notes[-1]


def test_values_that_only_share_a_name_are_no_pair() -> None:
    """The second model keeps the name for something else of the same type and shape."""
    half, twice = np.float32(0.5), np.float32(2)
    original = model([node("Mul", ["x", "half"], ["v"]), node("Mul", ["v", "half"], ["y"])], [("x", FLOAT, [8])], [("y", FLOAT)], half=half)
    nodes = [node("Mul", ["x", "twice"], ["v"]), node("Mul", ["v", "eighth"], ["y"])]
    other = model(nodes, [("x", FLOAT, [8])], [("y", FLOAT)], twice=twice, eighth=np.float32(0.125))
    found = qdqtool.compare(original, other)
    assert (found.verdict, found.runs[0].compared) == ("equal", 1)


def test_sums_in_another_order_are_rounding() -> None:
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(64, 8)).astype(np.float32)
    original = model([node("MatMul", ["x", "w"], ["y"], name="whole")], [("x", FLOAT, [4, 64])], [("y", FLOAT)], w=weight)
    nodes = [
        node("Split", ["x"], ["x0", "x1"], axis=1, num_outputs=2),
        node("MatMul", ["x0", "w0"], ["y0"]),
        node("MatMul", ["x1", "w1"], ["y1"]),
        node("Add", ["y0", "y1"], ["y"], name="sum"),
    ]
    other = model(nodes, [("x", FLOAT, [4, 64])], [("y", FLOAT)], w0=weight[:32], w1=weight[32:])
    found = qdqtool.compare(original, other)
    assert (found.verdict, found.ok) == ("rounding", True)


def test_models_without_kernels_are_run_by_the_evaluator() -> None:
    original = qdqtool.convert(networks.convolutions(), opset=28, check=False).model
    other = changed(original)
    own(other, other.graph.node[2], 1, times(2), np.random.default_rng(0))
    found = qdqtool.compare(original, other)
    assert found.first is not None
    assert (found.runs[0].second, found.first.where) == ("evaluator", "main / conv0/w")


def test_other_types_of_outputs_are_told() -> None:
    original = networks.integer_operators()
    for proto in (original, other := changed(original)):
        del proto.graph.node[-1]
        proto.graph.output[0].CopyFrom(helper.make_tensor_value_info("mq", TensorProto.UINT8, None))
    other.graph.node.append(helper.make_node("Cast", ["mq"], ["mi"], to=TensorProto.INT32))
    other.graph.output[0].CopyFrom(helper.make_tensor_value_info("mi", TensorProto.INT32, None))
    assert qdqtool.compare(original, other).runs[0].outputs[0].reason == "type uint8 became int32"


def test_models_of_other_interfaces_are_refused() -> None:
    two = [("x", FLOAT, [4]), ("z", FLOAT, [4])]
    original = model([node("Add", ["x", "z"], ["y"])], two, [("y", FLOAT)])
    with pytest.raises(Usage, match="different inputs"):
        qdqtool.compare(original, model([node("Neg", ["q"], ["y"])], [("q", FLOAT, [4])], [("y", FLOAT)]))
    with pytest.raises(Unreadable):
        qdqtool.compare("nothing.onnx", original)


def test_what_does_not_run_is_not_compared() -> None:
    broken = networks.convolutions()
    broken.graph.node[3].attribute[0].i = 5
    found = qdqtool.compare(networks.convolutions(), broken)
    assert (found.verdict, found.first, found.ok) == ("not compared", None, False)
    assert "the second model does not run in ort" in found.runs[0].notes[0]


def test_other_graphs_inside_a_node_are_named(fixtures: Path) -> None:
    changed = load(fixtures / "subgraph_21.onnx")
    for branch in changed.graph.node[0].attribute:
        scale = branch.g.initializer[0]
        scale.CopyFrom(tensors.make(scale.name, tensors.array(scale, None) * np.float32(2)))
    found = qdqtool.compare(fixtures / "subgraph_21.onnx", changed)
    assert found.first is not None
    assert found.first.where == "main / If"
    assert found.first.reasons == ("graph else_branch is another one", "graph then_branch is another one")


def test_another_function_is_named(fixtures: Path) -> None:
    changed = load(fixtures / "function_21.onnx")
    body = changed.functions[0]
    body.node[-1].input[0] = "negative"
    body.node.insert(0, helper.make_node("Neg", [body.input[0]], ["negative"]))
    found = qdqtool.compare(fixtures / "function_21.onnx", changed)
    assert found.first is not None
    assert (found.first.where, found.first.reasons) == ("main / linear", ("function Linear is another one",))
