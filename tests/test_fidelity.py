"""What a conversion does not touch stays as it was: every kind of content a model can have, around one step that must change."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import ModelProto, NodeProto, SparseTensorProto, TensorProto, helper, numpy_helper

import qdqtool

UNKNOWN_FIELD = b"\xfa\x3e\x03odd"
"""Field 1007, bytes: in no message of onnx.proto."""


def _with_unknown_field(message: NodeProto) -> NodeProto:
    return NodeProto.FromString(message.SerializeToString() + UNKNOWN_FIELD)


def _meta(message: object, **entries: str) -> None:
    for key, value in entries.items():
        message.metadata_props.add(key=key, value=value)  # type: ignore[attr-defined]


def _external(name: str, folder: Path, offset: int) -> TensorProto:
    data = np.arange(6, dtype=np.float32).tobytes()
    with (folder / "weights.bin").open("ab") as file:
        file.write(bytes(offset - file.tell()) + data)
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[2, 3], data_location=TensorProto.EXTERNAL, doc_string="outside")
    for key, value in (("location", "weights.bin"), ("offset", str(offset)), ("length", "24"), ("checksum", "none")):
        tensor.external_data.add(key=key, value=value)
    return tensor


def corner(folder: Path) -> ModelProto:
    """A model at opset 21 with everything; only ``dequantize me`` has to change on the way down."""
    codes = numpy_helper.from_array(np.arange(-4, 4).reshape(2, 4).astype(ml_dtypes.int4), "codes 0")
    scale = numpy_helper.from_array(np.float32(0.5), "scale/0")
    kept = numpy_helper.from_array(np.float32([1, 2]), "kept")
    kept.doc_string = "read by nobody"
    sparse = SparseTensorProto(
        values=numpy_helper.from_array(np.float32([3]), "sparse"), indices=numpy_helper.from_array(np.int64([1])), dims=[4]
    )
    nodes = [
        helper.make_node("DequantizeLinear", ["codes 0", "scale/0"], ["real:0"], name="dequantize me", doc_string="why"),
        _with_unknown_field(helper.make_node("MatMul", ["x", "real:0"], ["m m"], name="odd name/1")),
        helper.make_node("Add", ["m m", "sparse"], ["s"], name="", doc_string="unnamed"),
        helper.make_node("Double", ["s"], ["y"], domain="local", name="call"),
        helper.make_node("Identity", ["far"], ["z"], name="far away"),
    ]
    _meta(nodes[0], of="the node")
    _meta(nodes[1], b="2", a="1")
    function = helper.make_function(
        "local", "Double", ["v"], ["w"], [helper.make_node("Add", ["v", "v"], ["w"], name="inside")], [helper.make_opsetid("", 21)]
    )
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, ["seq len", 2])],
        [helper.make_tensor_value_info("y", 1, ["seq len", 4], "out"), helper.make_tensor_value_info("z", 1, [2, 3])],
        [codes, scale, kept, _external("far", folder, 4096)],
        doc_string="graph doc",
        value_info=[helper.make_tensor_value_info("m m", 1, ["seq len", 4]), helper.make_tensor_value_info("real:0", 1, [2, 4])],
        sparse_initializer=[sparse],
    )
    graph.input[0].type.denotation = "TENSOR"
    graph.input[0].type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    annotation = graph.quantization_annotation.add(tensor_name="m m")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="kept")
    _meta(graph, of="the graph")
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("local", 1), helper.make_opsetid("never.used", 3)],
        functions=[function],
        ir_version=10,
        producer_name="corner",
        doc_string="model doc",
    )
    _meta(model, of="the model")
    training = model.training_info.add()
    training.initialization.name = "start"
    training.algorithm.node.add(op_type="Identity", input=["a"], output=["b"])
    return model


def _rest(model: ModelProto) -> ModelProto:
    """The model without what a move from 21 to 13 has to change."""
    rest = ModelProto()
    rest.CopyFrom(model)
    rest.ClearField("ir_version")
    for holder in (rest, *rest.functions):
        for entry in holder.opset_import:
            if entry.domain == "":
                entry.version = 0
    del rest.graph.node[0]
    codes = [i for i, t in enumerate(rest.graph.initializer) if t.name.startswith("codes 0")]
    del rest.graph.initializer[codes[0]]
    return rest


def test_all_but_the_step_stays(tmp_path: Path) -> None:
    original = corner(tmp_path)
    source = tmp_path / "in.onnx"
    source.write_bytes(original.SerializeToString())
    qdqtool.convert(source, opset=13, output=tmp_path / "out.onnx")
    result = onnx.load(tmp_path / "out.onnx", load_external_data=False)
    assert _rest(result) == _rest(original)
    step = result.graph.node[0]
    assert (step.name, step.doc_string, list(step.output)) == ("dequantize me", "why", ["real:0"])
    assert [(p.key, p.value) for p in step.metadata_props] == [("of", "the node")]
    assert UNKNOWN_FIELD in result.graph.node[1].SerializeToString()


@pytest.mark.parametrize("target", [21, None])
def test_nothing_to_do_gives_the_same_bytes(tmp_path: Path, target: int | None) -> None:
    source = tmp_path / "in.onnx"
    source.write_bytes(corner(tmp_path).SerializeToString() + UNKNOWN_FIELD)
    qdqtool.convert(source, opset=target, to=None if target else "ai.onnx", output=tmp_path / "out.onnx")
    assert (tmp_path / "out.onnx").read_bytes() == source.read_bytes()
