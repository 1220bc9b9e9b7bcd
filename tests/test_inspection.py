from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

import qdqtool
from qdqtool import inspection
from qdqtool.inspection import Form, FormCount, Inspection, inspect
from qdqtool.model.load import Loaded, load

BLOCKS = "blocks of 32 along axis 0"

# model: quantized forms as (operator, version, storage, expressed, granularity, scale, nodes, bytes)
FIXTURES = {
    "opset_10": [
        ("DequantizeLinear", 10, "int8", "float32", "per tensor", "float32", 1, 64 * 16 + 4 + 1),
        ("DequantizeLinear", 10, "uint8", "float32", "per tensor", "float32", 1, 5),
        ("QuantizeLinear", 10, "uint8", "float32", "per tensor", "float32", 1, 5),
    ],
    "opset_24": [
        ("DequantizeLinear", 24, "float8e4m3fn", "float32", BLOCKS, "float8e8m0", 1, 64 * 16 + 2 * 16),
        ("DequantizeLinear", 24, "uint8", "float32", "per tensor", "float32", 1, 5),
        ("QuantizeLinear", 24, "uint8", "float32", "per tensor", "float32", 1, 5),
    ],
    "int4_blocked_21": [
        ("DequantizeLinear", 21, "int4", "float32", BLOCKS, "float32", 1, 64 * 48 // 2 + 2 * 48 * 4),
        ("DequantizeLinear", 21, "uint4", "float32", BLOCKS, "float32", 1, 48 * 16 // 2 + 2 * 16 * 4 + 2 * 16 // 2),
    ],
    # Both branches read the same codes, which count once.
    "subgraph_21": [("DequantizeLinear", 21, "int4", "float32", BLOCKS, "float32", 2, 64 * 16 // 2 + 2 * (2 * 16 * 4))],
    "function_21": [("DequantizeLinear", 21, "int4", "float32", "blocks of 16 along axis 0", "float32", 1, 0)],
}


@pytest.mark.parametrize("name", FIXTURES)
def test_forms_of_quantized_nodes(fixtures: Path, name: str) -> None:
    found = inspect(load(fixtures / f"{name}.onnx")).quantized
    assert found == tuple(FormCount(Form("ai.onnx", *row[:6]), *row[6:]) for row in FIXTURES[name])


def test_weights_outside_are_not_needed(fixtures: Path, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes((fixtures / "external_21.onnx").read_bytes())
    assert inspect(load(tmp_path / "m.onnx")).quantized == inspect(load(fixtures / "int4_blocked_21.onnx")).quantized


def test_domains_and_functions(fixtures: Path) -> None:
    model = inspect(load(fixtures / "com_microsoft_17.onnx"))
    assert (model.imports, model.opset, model.ir_version) == ({"ai.onnx": 17, "com.microsoft": 1}, 17, 8)
    assert {row.form.domain for row in model.quantized} == {"com.microsoft"}
    assert inspect(load(fixtures / "function_21.onnx")).functions == {"fixtures::Linear": 1}


def of_text(text: str) -> Inspection:
    return inspect(Loaded(parser.parse_model(text), None, None))


def test_operators_that_are_no_steps_are_counted_by_name() -> None:
    model = of_text("""<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
        g (float[N, 8] x) => (int32[N, 4] y) <uint8[8, 4] w> {
            q, s, z = DynamicQuantizeLinear(x)
            y = MatMulInteger(q, w, z)
        }""")
    assert [(row.form, row.nodes, row.bytes) for row in model.quantized] == [
        (Form("ai.onnx", "DynamicQuantizeLinear", 11), 1, 0),
        (Form("ai.onnx", "MatMulInteger", 10), 1, 0),
    ]


def test_what_the_graph_does_not_tell_stays_empty() -> None:
    model = of_text("""<ir_version: 10, opset_import: ["" : 21]>
        g (float[4, 8] x, float[3] s) => (uint8[4, 8] y) { y = QuantizeLinear(x, s) }""")
    assert [row.form for row in model.quantized] == [Form("ai.onnx", "QuantizeLinear", 21, "uint8", "float32", "", "float32")]


def test_a_model_without_opset_or_with_odd_steps_is_inspected() -> None:
    proto = onnx.ModelProto(ir_version=8, graph=onnx.GraphProto(name="g"))
    proto.graph.node.add(op_type="DequantizeLinear", input=["a"], output=["b"])
    proto.graph.node.add(op_type="QuantizeLinear", domain="trt", input=["", "s"], output=["c"])
    model = inspect(Loaded(proto, None, None))
    assert (model.opset, model.imports, model.nodes) == (None, {}, 2)
    assert [row.form for row in model.quantized] == [Form("ai.onnx", "DequantizeLinear", None), Form("trt", "QuantizeLinear", None)]


def test_to_dict_is_plain() -> None:
    model = of_text("""<ir_version: 10, opset_import: ["" : 21]> g (float[4] x, float s) => (uint8[4] y) { y = QuantizeLinear(x, s) }""")
    assert model.to_dict() == {
        "path": "",
        "ir_version": 10,
        "producer": "",
        "imports": {"ai.onnx": 21},
        "functions": {},
        "nodes": 1,
        "quantized": [
            {
                "domain": "ai.onnx",
                "op": "QuantizeLinear",
                "version": 21,
                "storage": "uint8",
                "expressed": "float32",
                "granularity": "per tensor",
                "scale": "float32",
                "nodes": 1,
                "bytes": 0,
            }
        ],
    }


def test_every_model_of_the_corpus_is_inspected(corpus: Path) -> None:
    models = sorted(corpus.glob("models/**/*.onnx"))
    assert len(models) > 100
    quantized = [inspect(load(path)).quantized for path in models]
    assert sum(bool(rows) for rows in quantized) > 100


def test_operators_of_dialects_count_whatever_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "MARKS", ())
    node = helper.make_node("MatMulNBits", ["A", "B", "scales"], ["y"], domain="com.microsoft", K=32, N=1, bits=4, block_size=32)
    tensors = [numpy_helper.from_array(np.zeros((1, 1, 16), np.uint8), "B"), numpy_helper.from_array(np.ones((1, 1), np.float32), "scales")]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("A", "y")]
    model = helper.make_model(helper.make_graph([node], "g", ports[:1], ports[1:], tensors))
    assert [row.form.op for row in qdqtool.inspect(model).quantized] == ["MatMulNBits"]
