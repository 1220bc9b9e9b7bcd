"""ir_version: as high as the content needs, on a downgrade no higher than that of the opset's release."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

from qdqtool import dtypes
from qdqtool.errors import Usage
from qdqtool.model import tensors
from qdqtool.model.versions import needed, of_release, settle_ir_version
from tests.model.models import adding, floats


def plain(ir: int = 10, opset: int = 21) -> ModelProto:
    return adding(floats("w", 1), ir=ir, opset=opset)


def with_function(overload: str = "") -> ModelProto:
    proto = plain()
    proto.functions.append(helper.make_function("f", "F", [], [], [], [helper.make_opsetid("", 21)]))
    proto.functions[0].overload = overload
    return proto


def with_call_of_overload() -> ModelProto:
    proto = plain()
    proto.graph.node[0].overload = "fast"
    return proto


def with_devices() -> ModelProto:
    proto = plain()
    proto.configuration.add(name="two", num_devices=2)
    return proto


def with_devices_of_a_node() -> ModelProto:
    proto = plain()
    proto.graph.node[0].device_configurations.add(configuration_id="two")
    return proto


def with_training() -> ModelProto:
    proto = plain()
    proto.training_info.add()
    return proto


def with_sparse() -> ModelProto:
    proto = plain()
    proto.graph.sparse_initializer.add().values.CopyFrom(floats("s", 1))
    return proto


def with_type(code: int) -> ModelProto:
    proto = plain()
    proto.graph.value_info.append(helper.make_tensor_value_info("v", code, [1]))
    return proto


def with_optional_sequence() -> ModelProto:
    proto = plain()
    inner = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.INT4, [1]))
    proto.graph.input.append(helper.make_value_info("o", helper.make_optional_type_proto(inner)))
    return proto


def with_cast_in_a_branch() -> ModelProto:
    proto = plain()
    body = helper.make_graph([helper.make_node("Cast", ["x"], ["z"], to=TensorProto.FLOAT8E8M0)], "b", [], [])
    proto.graph.node.append(helper.make_node("If", ["c"], ["z"], then_branch=body))
    return proto


def with_constant(code: int) -> ModelProto:
    proto = plain()
    proto.graph.node.append(helper.make_node("Constant", [], ["k"], value=TensorProto(name="k", data_type=code)))
    return proto


def with_metadata() -> ModelProto:
    proto = plain()
    proto.graph.node[0].metadata_props.add(key="k", value="v")
    proto.graph.metadata_props.add(key="k", value="v")
    return proto


NEEDS = [
    (plain(), 4, "initializer"),
    (with_metadata(), 4, "initializer"),
    (with_function(), 8, "function F"),
    (with_function("fast"), 10, "overload fast of function F"),
    (with_call_of_overload(), 10, "overload fast of Add"),
    (with_devices(), 11, "device configuration"),
    (with_devices_of_a_node(), 11, "device configuration"),
    (with_training(), 7, "training_info"),
    (with_sparse(), 6, "sparse"),
    (with_optional_sequence(), 10, "int4"),
    (with_cast_in_a_branch(), 12, "float8e8m0"),
]


@pytest.mark.parametrize(("proto", "ir", "reason"), NEEDS, ids=[f"{reason}-{ir}" for _, ir, reason in NEEDS])
def test_content_and_what_it_needs(proto, ir, reason):
    assert needed(proto)[0] == ir
    assert reason in needed(proto)[1]


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_element_types_need_theirs_wherever_they_stand(dtype):
    assert needed(with_type(dtype.code))[0] == needed(with_constant(dtype.code))[0] == max(dtype.ir, 4)


@pytest.mark.parametrize(
    ("opset", "ir"), [(7, 3), (8, 3), (9, 4), (10, 5), (11, 6), (13, 7), (15, 8), (18, 8), (19, 9), (21, 10), (23, 11), (25, 13), (28, 14)]
)
def test_the_ir_of_a_release(opset, ir):
    assert of_release(opset) == ir
    assert of_release(99) == onnx.IR_VERSION


@pytest.mark.parametrize(
    ("proto", "source", "target", "wanted", "ir"),
    [
        (plain(10), 21, 23, None, 10),
        (plain(10), 21, 21, None, 10),
        (plain(10), 21, 13, None, 7),
        (plain(10), 21, 9, None, 4),
        (plain(10), 21, 7, None, 4),
        (plain(6), 21, 13, None, 6),
        (with_function(), 21, 13, None, 8),
        (with_metadata(), 21, 13, None, 7),
        (with_type(TensorProto.INT4), 21, 23, None, 10),
        (with_type(TensorProto.FLOAT4E2M1), 21, 23, None, 11),
        (plain(10), 21, 13, "keep", 10),
        (plain(10), 21, 13, 8, 8),
        (plain(10), 21, 13, 12, 12),
    ],
)
def test_settling(proto, source, target, wanted, ir):
    result = ModelProto()
    result.CopyFrom(proto)
    notes = settle_ir_version(result, source_opset=source, target_opset=target, wanted=wanted)
    assert result.ir_version == ir
    assert len(notes) == (ir != proto.ir_version)
    result.ir_version = proto.ir_version
    assert result == proto


@pytest.mark.parametrize("wanted", [3, 9, 99])
def test_an_ir_that_cannot_hold_the_result(wanted):
    proto = with_type(TensorProto.INT4)
    with pytest.raises(Usage) as caught:
        settle_ir_version(proto, source_opset=21, target_opset=21, wanted=wanted)
    assert ("int4" in caught.value.why) == (wanted < 10)
    assert proto.ir_version == 10


def listed(ir: int = 3) -> ModelProto:
    """As IR 3 wants it: the constant is listed as an input, too."""
    proto = plain(ir, 9)
    proto.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [4]))
    return proto


def test_ir_3_stays_where_nothing_needs_more():
    proto = listed()
    assert settle_ir_version(proto, source_opset=10, target_opset=9) == []
    assert (proto.ir_version, len(proto.graph.input)) == (3, 2)


def test_leaving_ir_3_makes_constants_of_its_initializers():
    proto = listed()
    proto.graph.initializer.append(tensors.make("b", np.zeros(1, dtypes.BFLOAT16.numpy)))
    notes = settle_ir_version(proto, source_opset=10, target_opset=13)
    assert proto.ir_version == 4
    assert [v.name for v in proto.graph.input] == ["x"]
    assert len(notes) == 2
    assert "1 initializers" in notes[1]


def test_defaults_of_inputs_stay_from_ir_4_on():
    proto = listed(ir=4)
    settle_ir_version(proto, source_opset=10, target_opset=13, wanted=8)
    assert [v.name for v in proto.graph.input] == ["x", "w"]
