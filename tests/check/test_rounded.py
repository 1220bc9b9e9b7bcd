from pathlib import Path

import numpy as np
from onnx import ModelProto, helper

from qdqtool.check import CheckOptions, Report, Rounded, check
from tests.check.builders import FLOAT, model, node, saved

POOL = Rounded("main / pool", ("p",))


def _pooled(opset: int, factor: float = 1.0, after: float = 1.0, scale: float = 0.001) -> ModelProto:
    """A pool between a product and a quantized pair, whose codes follow every ulp of the pool at a tie."""
    nodes = [
        node("Mul", ["x", "factor"], ["m"]),
        node("AveragePool", ["m"], ["p"], kernel_shape=[3, 3], name="pool"),
        node("Mul", ["p", "after"], ["a"]),
        node("QuantizeLinear", ["a", "s", "z"], ["q"]),
        node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    constants = {"factor": np.float32(factor), "after": np.float32(after), "s": np.float32(scale), "z": np.int8(0)}
    return model(nodes, [("x", FLOAT, [2, 3, 40, 40])], [("y", FLOAT), ("a", FLOAT)], opset=opset, **constants)


def _checked(tmp_path: Path, before: ModelProto, after: ModelProto, *rounded: Rounded) -> Report:
    old, new = saved(before, tmp_path / "a.onnx"), saved(after, tmp_path / "b.onnx")
    return check(old, new, [], options=CheckOptions(info=False, rounded=rounded))


def test_a_pool_added_up_in_another_order_is_no_fault_where_it_is_known(tmp_path: Path) -> None:
    assert _checked(tmp_path, _pooled(13), _pooled(19)).verdict == "different"
    report = _checked(tmp_path, _pooled(13), _pooled(19), POOL)
    assert report.verdict == "within bound"
    assert report.notes[0] == "equal up to rounding: ONNX Runtime adds up in another order in main / pool"
    (pool,) = [c for c in report.replayed if c.where.startswith("main / pool")]
    assert (pool.where, pool.verdict) == ("main / pool, rounded otherwise", "within bound")
    assert pool.difference is not None
    assert 0 < pool.difference.of_maximum < 4 * 2**-23


def test_more_than_rounding_is_a_fault_of_the_pool(tmp_path: Path) -> None:
    report = _checked(tmp_path, _pooled(13), _pooled(19, factor=1 + 2e-6), POOL)
    assert report.verdict == "different"
    assert "main / pool, rounded otherwise: different" in report.notes[1]


def test_one_ulp_elsewhere_does_not_hide_behind_it(tmp_path: Path) -> None:
    report = _checked(tmp_path, _pooled(13), _pooled(19, after=float(np.nextafter(np.float32(1), np.float32(2)))), POOL)
    assert report.verdict == "different"
    assert "outside of the rewritten steps: value a: different" in report.notes[1]


def test_a_node_within_a_body_leaves_the_judgement_to_the_size_of_the_difference(tmp_path: Path) -> None:
    def branched(opset: int, factor: float = 1.0) -> ModelProto:
        inside = [node("AveragePool", ["m"], ["p"], kernel_shape=[3, 3])]
        body = helper.make_graph(inside, "body", [], [helper.make_tensor_value_info("p", FLOAT, None)])
        nodes = [node("Mul", ["x", "factor"], ["m"]), node("If", ["c"], ["y"], then_branch=body, else_branch=body)]
        constants = {"factor": np.float32(factor), "c": np.array(True)}
        return model(nodes, [("x", FLOAT, [2, 3, 40, 40])], [("y", FLOAT)], opset=opset, **constants)

    inside = Rounded("main / If.then_branch / pool")
    report = _checked(tmp_path, branched(13), branched(19), inside)
    assert report.verdict == "within bound"
    assert "not everything could be replayed" in report.outputs[0].reason
    assert _checked(tmp_path, branched(13), branched(19, 1.5), inside).verdict == "different"


def test_values_inside_that_are_within_bound_leave_equal_outputs_equal(tmp_path: Path) -> None:
    def swallowed(opset: int) -> ModelProto:
        proto = _pooled(opset)
        del proto.graph.output[:]
        proto.graph.node.append(node("Shape", ["y"], ["n"]))
        proto.graph.output.add(name="n").type.tensor_type.elem_type = 7
        return proto

    report = _checked(tmp_path, swallowed(13), swallowed(19), POOL)
    assert [(c.where, c.verdict) for c in report.outputs] == [("output n", "equal")]
    assert "main / pool, rounded otherwise" in [c.where for c in report.replayed]
    assert _checked(tmp_path, swallowed(13), swallowed(19)).verdict == "different"
