"""Weights with several readers: one tensor before, one after, in both directions, or the pattern stays."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

import qdqtool
from tests.dialects.layouts import MICROSOFT, Layout, built, constants, drawn, in_bytes, model, operators, run

WORDS, WIDTH, BLOCK = 40, 64, 32


def tied() -> ModelProto:
    """One table for the embedding and the last product, as onnxruntime-genai writes it: the table is the weights in another shape."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 16, (WORDS, WIDTH))
    tensors = {
        "B": in_bytes(codes, 4).reshape(WORDS, WIDTH // BLOCK, BLOCK // 2),
        "scales": rng.random((WORDS, WIDTH // BLOCK)).astype(np.float32),
        "zeros": in_bytes(rng.integers(0, 16, (WORDS, WIDTH // BLOCK)), 4),
        "flat": np.array([WORDS, WIDTH // 2], np.int64),
    }
    embed = {"bits": 4, "block_size": BLOCK, "gather_axis": 0, "quantize_axis": 1}
    nodes = [
        helper.make_node("Reshape", ["B", "flat"], ["table"], "table"),
        helper.make_node("GatherBlockQuantized", ["table", "ids", "scales", "zeros"], ["x"], "embed", domain=MICROSOFT, **embed),
        helper.make_node("Relu", ["x"], ["h"], "relu"),
        helper.make_node(
            "MatMulNBits", ["h", "B", "scales", "zeros"], ["y"], "head", domain=MICROSOFT, K=WIDTH, N=WORDS, bits=4, block_size=BLOCK
        ),
    ]
    return built(nodes, [("ids", TensorProto.INT64, (2, 3))], [("y", TensorProto.FLOAT)], tensors)


FEEDS = {"ids": np.array([[0, 39, 7], [-1, 3, 3]], np.int64)}


def test_a_tied_table_stays_one_tensor_both_ways() -> None:
    original = tied()
    there = qdqtool.convert(original, to="ai.onnx").model
    assert operators(there) == ["DequantizeLinear", "Gather", "Relu", "DequantizeLinear", "Transpose", "MatMul"]
    assert len(there.graph.initializer) == 3
    assert np.array_equal(run(there, FEEDS)["y"], run(original, FEEDS)["y"])
    back = qdqtool.convert(there, to="matmulnbits,gatherblockquantized").model
    assert operators(back) == operators(original)
    assert {n: v.tobytes() for n, v in bytes_of(back).items()} == {n: v.tobytes() for n, v in bytes_of(original).items()}
    assert np.array_equal(run(back, FEEDS)["y"], run(original, FEEDS)["y"])


def bytes_of(proto: ModelProto) -> dict[str, np.ndarray]:
    """Constants by shape and type, which tells them apart here."""
    return {f"{v.dtype}{list(v.shape)}": v for v in constants(proto).values()}


def test_fusing_one_of_two_readers_would_store_the_table_twice() -> None:
    there = qdqtool.convert(tied(), to="ai.onnx").model
    # Tables below 4 KiB may stay beside their new form, so this one is made larger.
    large = _taller(there, 8)
    half = qdqtool.convert(large, to="matmulnbits")
    assert operators(half.model) == operators(large)
    assert half.notes == ("1 pattern stays, not fused as matmulnbits: its weights have other readers too, and would be stored twice",)


def _taller(proto: ModelProto, times: int) -> ModelProto:
    """Every constant repeated along its first axis."""
    copy = ModelProto()
    copy.CopyFrom(proto)
    for tensor in copy.graph.initializer:
        tensor.CopyFrom(numpy_helper.from_array(np.concatenate([numpy_helper.to_array(tensor)] * times), tensor.name))
    return copy


def test_one_dequantize_for_two_products_becomes_two_operators_of_one_tensor() -> None:
    layout = Layout(uses=2, zero="packed")
    there = qdqtool.convert(model(layout, drawn(layout)), to="ai.onnx").model
    shared = ModelProto()
    shared.CopyFrom(there)
    first, _, second = (shared.graph.node[i] for i in (0, 1, 2))
    assert (first.op_type, second.op_type) == ("DequantizeLinear", "DequantizeLinear")
    shared.graph.node[3].input[1] = first.output[0]
    del shared.graph.node[2]
    fused = qdqtool.convert(shared, to="matmulnbits")
    assert operators(fused.model) == ["MatMulNBits", "MatMulNBits"]
    assert len(fused.model.graph.initializer) == 3


def test_a_dequantize_that_another_operator_reads_stays_with_its_product() -> None:
    layout = Layout(k=128, n=128)
    there = qdqtool.convert(model(layout, drawn(layout)), to="ai.onnx").model
    there.graph.node.append(helper.make_node("Neg", [there.graph.node[0].output[0]], ["other"]))
    there.graph.output.append(helper.make_tensor_value_info("other", TensorProto.FLOAT, None))
    result = qdqtool.convert(there, to="matmulnbits")
    assert operators(result.model) == ["DequantizeLinear", "MatMul", "Neg"]


def _if(then: list[NodeProto], other: list[NodeProto]) -> NodeProto:
    bodies = {
        name: helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)])
        for name, nodes in (("then_branch", then), ("else_branch", other))
    }
    return helper.make_node("If", ["flag"], ["y"], "if", **bodies)


def test_inside_of_a_body_weights_of_the_main_graph_are_split_and_fused() -> None:
    layout = Layout(n=8)
    flat = model(layout, drawn(layout))
    node = flat.graph.node[0]
    node.output[0] = "inner"
    branch = _if([node], [helper.make_node("Identity", ["other"], ["inner2"])])
    inputs = [("A", TensorProto.FLOAT, (2, 64)), ("flag", TensorProto.BOOL, ()), ("other", TensorProto.FLOAT, (2, 8))]
    original = built([branch], inputs, [("y", TensorProto.FLOAT)], constants(flat))
    there = qdqtool.convert(original, to="ai.onnx").model
    inside = [n.op_type for n in there.graph.node[0].attribute[1].g.node] + [n.op_type for n in there.graph.node[0].attribute[0].g.node]
    assert sorted(inside) == ["DequantizeLinear", "Identity", "MatMul"]
    back = qdqtool.convert(there, to="matmulnbits").model
    rng = np.random.default_rng(0)
    feeds = {"A": rng.normal(size=(2, 64)).astype(np.float32), "flag": np.array(True), "other": np.zeros((2, 8), np.float32)}
    assert np.array_equal(run(back, feeds)["y"], run(original, feeds)["y"])
    assert np.array_equal(run(there, feeds)["y"], run(original, feeds)["y"])
