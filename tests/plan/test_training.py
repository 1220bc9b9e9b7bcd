from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, helper

import qdqtool
from tests.plan.graphs import INT4, converted, initializers, model

BLOCKED = "g (float[2,8] x) => (y) { y = DequantizeLinear <axis: int = 1, block_size: int = 4> (w, s) }"
SCALES = np.float32([[0.5, 1], [2, 4]])


def trained(*nodes: object, updates: str = "") -> ModelProto:
    proto = model(BLOCKED, w=INT4, s=SCALES)
    training = proto.training_info.add()
    training.algorithm.CopyFrom(helper.make_graph(list(nodes), "algorithm", [], [helper.make_tensor_value_info("t", 1, None)]))
    if updates:
        training.update_binding.add(key=updates, value="t")
    return proto


def test_what_training_updates_is_no_constant() -> None:
    proto = trained(helper.make_node("Neg", ["s"], ["t"]), updates="s")
    result = converted(proto, 13, check=True)
    assert result.check is not None
    assert result.check.verdict == "equal"
    assert result.model.training_info == proto.training_info
    reads = {name for node in result.model.graph.node for name in node.input}
    assert "s" in reads


def test_what_training_reads_stays() -> None:
    assert "s" in initializers(converted(trained(helper.make_node("Neg", ["s"], ["t"])), 13).model)
    assert "s" not in initializers(converted(trained(helper.make_node("Neg", ["t0"], ["t"])), 13).model)


@pytest.mark.parametrize(
    ("node", "word"),
    [
        (helper.make_node("DequantizeLinear", ["w", "s"], ["t"]), "changed between opset 21 and 13"),
        (helper.make_node("Gelu", ["s"], ["t"]), "Gelu"),
    ],
)
def test_training_graphs_that_would_change_are_refused(node: object, word: str) -> None:
    with pytest.raises(qdqtool.Refused) as caught:
        converted(trained(node), 13)
    (reason,) = caught.value.reasons
    assert reason.at.startswith("training_info / ")
    assert word in reason.reasons[0]
    assert "training_info" in reason.hint
