import numpy as np
from onnx import helper

from qdqtool.check.halves import halves
from tests.check.builders import FLOAT, FLOAT16, model, node


def test_only_what_depends_on_float16_is_named() -> None:
    nodes = [
        node("Cast", ["x"], ["h"], to=FLOAT16),
        node("Cast", ["h"], ["f"], to=FLOAT),
        node("Neg", ["f"], ["after"]),
        node("Neg", ["x"], ["beside"]),
        node("Add", ["x", "c"], ["own"]),
    ]
    proto = model(nodes, [("x", FLOAT, [4])], [("after", FLOAT), ("beside", FLOAT)], c=np.float16(1))
    assert halves(proto) == {"h", "f", "after", "own", "c"}


def test_float16_within_bodies_and_functions_counts() -> None:
    inside = [node("Cast", ["x"], ["h"], to=FLOAT16), node("Cast", ["h"], ["r"], to=FLOAT)]
    body = helper.make_graph(inside, "body", [], [helper.make_tensor_value_info("r", FLOAT, None)])
    function = helper.make_function("local", "Half", ["x"], ["r"], inside, [helper.make_opsetid("", 21)])
    nodes = [
        node("If", ["c"], ["y"], then_branch=body, else_branch=body),
        node("Half", ["x"], ["z"], domain="local"),
        node("Neg", ["x"], ["n"]),
    ]
    outputs = [("y", FLOAT), ("z", FLOAT), ("n", FLOAT)]
    proto = model(nodes, [("x", FLOAT, [4])], outputs, functions=[function], c=np.array(True))
    assert halves(proto) == {"y", "z"}
