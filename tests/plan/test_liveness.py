from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorAnnotation

from tests.plan.graphs import INT4, INT8, TENTH, converted, initializers, model, ops

GONE: dict[str, tuple[str, set[str], list[str]]] = {
    "initializer": ("g (float[2] x) => (y) { y = DequantizeLinear(w, s) }", {"s", "w_int8"}, ["DequantizeLinear"]),
    "Identity": ("g (float[2] x) => (y) { i = Identity(w) y = DequantizeLinear(i, s) }", {"s", "w_int8"}, ["DequantizeLinear"]),
    "chain": (
        "g (float[2] x) => (y) { i = Identity(w) j = Identity(i) y = DequantizeLinear(j, s) }",
        {"s", "w_int8"},
        ["DequantizeLinear"],
    ),
    "chain read by another": (
        "g (float[2] x) => (y, v) { i = Identity(t) y = DequantizeLinear(w, i) v = Abs(i) }",
        {"t", "w_int8"},
        ["Identity", "DequantizeLinear", "Abs"],
    ),
    "what nobody read before": (
        "g (float[2] x) => (y) { d = Identity(t) y = DequantizeLinear(w, s) }",
        {"s", "t", "w_int8"},
        ["Identity", "DequantizeLinear"],
    ),
    "read twice": (
        "g (float[2] x) => (y, v) { y = DequantizeLinear(w, s) v = DequantizeLinear(w, t) }",
        {"s", "t", "w_int8"},
        ["DequantizeLinear", "DequantizeLinear"],
    ),
}


@pytest.mark.parametrize(("text", "constants", "nodes"), GONE.values(), ids=GONE.keys())
def test_what_is_left(text: str, constants: set[str], nodes: list[str]) -> None:
    used = {"w": INT4, **{name: value for name, value in (("s", TENTH), ("t", np.float32(0.5))) if name in constants}}
    result = converted(model(text, **used), 13).model
    assert set(initializers(result)) & {"w", "s", "t", "w_int8"} == constants
    assert ops(result) == nodes


def test_a_graph_output_stays() -> None:
    text = "g (float[2] x) => (y, int8[2,8] w) { y = DequantizeLinear(w, s) }"
    proto = model(text, 21, w=INT8, s=np.ones((2, 2), np.float32))
    proto.graph.node[0].attribute.add(name="block_size", i=4, type=2)
    result = converted(proto, 13).model
    assert "w" in initializers(result)
    assert [o.name for o in result.graph.output] == ["y", "w"]


def test_a_default_that_an_input_overrides_stays() -> None:
    text = "g (float[2,8] x, float s) => (y) { y = QuantizeLinear(x, s, z) }"
    proto = model(text, 23, s=TENTH, z=np.int8(3))
    proto.graph.node[0].attribute.add(name="precision", i=10, type=2)
    result = converted(proto, 13).model
    assert "s" in initializers(result)
    assert [i.name for i in result.graph.input] == ["x", "s"]


@pytest.mark.parametrize("as_value", [True, False])
def test_an_annotated_constant_stays(as_value: bool) -> None:
    proto = model("g (float[2] x) => (y) { y = DequantizeLinear(w, s) }", w=INT4, s=TENTH)
    annotation = TensorAnnotation(tensor_name="y" if as_value else "w")
    annotation.quant_parameter_tensor_names.add(key="ZERO_POINT_TENSOR", value="w" if as_value else "s")
    proto.graph.quantization_annotation.append(annotation)
    result = converted(proto, 13).model
    assert "w" in initializers(result)
    assert result.graph.quantization_annotation[0] == annotation


def test_a_constant_input_of_ir_3_goes_with_its_input() -> None:
    proto = model(
        "g (float[2,8] x, int8[2,8] w, float s) => (float[2,8] y) { d = DequantizeLinear(w, s) y = Add(d, x) }", 13, 3, w=INT8, s=TENTH
    )
    result = converted(proto, 9).model
    assert not {"w", "s"} - set(initializers(result))
    moved = converted(
        model("g (float[2,8] x, int16[2,8] w, float s) => (y) { y = DequantizeLinear(w, s) }", 21, 3, w=INT8.astype("int16"), s=TENTH),
        13,
        prefer="nodes",
    )
    assert not {i.name for i in moved.model.graph.input} & {"w", "s"}
