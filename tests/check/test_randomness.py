import numpy as np
from onnx import TensorProto, helper

from qdqtool.check.randomness import random_outputs
from tests.check.builders import FLOAT, model, node

NOISE = node("RandomNormalLike", ["x"], ["n"], name="noise")


def test_only_what_depends_on_a_random_operator_is_named() -> None:
    proto = model([NOISE, node("Add", ["x", "n"], ["a"]), node("Relu", ["x"], ["b"])], [("x", FLOAT, [2])], [("a", FLOAT), ("b", FLOAT)])
    assert random_outputs(proto) == {"a": "RandomNormalLike noise"}


def test_order_does_not_matter() -> None:
    proto = model([node("Relu", ["m"], ["a"]), node("Neg", ["n"], ["m"]), NOISE], [("x", FLOAT, [2])], [("a", FLOAT)])
    assert random_outputs(proto) == {"a": "RandomNormalLike noise"}


def test_branches_are_looked_into() -> None:
    def branch(*nodes: object) -> object:
        return helper.make_graph(list(nodes), "branch", [], [helper.make_tensor_value_info("r", FLOAT, None)])

    inside = node(
        "If", ["c"], ["a"], then_branch=branch(node("RandomUniform", [], ["r"], shape=[2])), else_branch=branch(node("Relu", ["x"], ["r"]))
    )
    outside = node("If", ["c"], ["b"], then_branch=branch(node("Neg", ["n"], ["r"])), else_branch=branch(node("Relu", ["x"], ["r"])))
    calm = node("If", ["c"], ["d"], then_branch=branch(node("Neg", ["x"], ["r"])), else_branch=branch(node("Relu", ["x"], ["r"])))
    outputs = [("a", FLOAT), ("b", FLOAT), ("d", FLOAT)]
    proto = model([NOISE, inside, outside, calm], [("x", FLOAT, [2]), ("c", TensorProto.BOOL, [])], outputs)
    assert random_outputs(proto) == {"a": "RandomUniform", "b": "RandomNormalLike noise"}


def test_functions_are_looked_into() -> None:
    function = helper.make_function("local", "Noisy", ["x"], ["y"], [node("Bernoulli", ["x"], ["y"])], [helper.make_opsetid("", 21)])
    proto = model([node("Noisy", ["x"], ["a"], domain="local")], [("x", FLOAT, [2])], [("a", FLOAT)], functions=[function])
    assert random_outputs(proto) == {"a": "Bernoulli"}


def test_dropout_is_random_in_training_only() -> None:
    nodes = [
        node("Dropout", ["x"], ["a"]),
        node("Dropout", ["x", "", "off"], ["b"]),
        node("Dropout", ["x", "", "on"], ["c"], name="drop"),
    ]
    outputs = [("a", FLOAT), ("b", FLOAT), ("c", FLOAT)]
    proto = model(nodes, [("x", FLOAT, [2])], outputs, on=np.array(True), off=np.array(False))
    assert random_outputs(proto) == {"c": "Dropout drop"}
