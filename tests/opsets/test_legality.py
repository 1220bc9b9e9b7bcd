from __future__ import annotations

from typing import Any

import pytest
from onnx import TensorProto, helper

from qdqtool import dtypes as t
from qdqtool.opsets.legality import ABSENT, legal

F, H, B, I64 = t.FLOAT, t.FLOAT16, t.BFLOAT16, t.INT64


def reasons(op: str, version: int, inputs: list[Any], outputs: list[Any], domain: str = "", **attributes: Any) -> list[str]:
    protos = {name: helper.make_attribute(name, value) for name, value in attributes.items()}
    return legal(op, domain, inputs, outputs, protos, version)


LEGAL = [
    ("Transpose", 21, [t.INT4], [t.INT4], {"perm": [1, 0]}),
    ("Transpose", 13, [None], [None], {}),
    ("Cast", 13, [F], [None], {"to": 16}),
    ("Clip", 11, [F, ABSENT, F], [F], {}),
    ("Pow", 12, [F, I64], [F], {}),
    ("Gemm", 11, [F, F], [F], {}),
    ("Flatten", 11, [F], [F], {"axis": -1}),
    ("TopK", 10, [F, I64], [F, I64], {"axis": -1}),
    ("Mod", 13, [t.INT8, t.INT8], [t.INT8], {}),
    ("Mod", 13, [F, F], [F], {"fmod": 1}),
    ("Concat", 13, [F, F, F], [F], {"axis": 0}),
    ("Identity", 14, ["seq(tensor(float))"], ["seq(tensor(float))"], {}),
    ("Loop", 13, [I64, t.BOOL, F, t.INT8], [F, t.INT8], {"body": helper.make_graph([], "body", [], [])}),
    ("GroupNormalization", 21, [F, F, F], [F], {"num_groups": 1}),
]


@pytest.mark.parametrize(("op", "version", "inputs", "outputs", "attributes"), LEGAL)
def test_legal(op: str, version: int, inputs: list[Any], outputs: list[Any], attributes: dict[str, Any]) -> None:
    assert reasons(op, version, inputs, outputs, **attributes) == []


ILLEGAL = [
    ("LayerNormalization", 12, [F, F], [F], {}, ["opset 12 has no operator LayerNormalization (from opset 17)"]),
    ("Nonesuch", 12, [F], [F], {}, ["opset 12 has no operator Nonesuch"]),
    ("Upsample", 13, [F, F], [F], {}, ["Upsample is deprecated at opset 13 (only up to opset 9)"]),
    ("GroupNormalization", 20, [F, F, F], [F], {"num_groups": 1}, ["GroupNormalization is deprecated at opset 20 (from opset 21)"]),
    ("Reshape", 13, [F, I64], [F], {"allowzero": 1}, ["Reshape has no attribute allowzero at opset 13 (from opset 14)"]),
    ("Clip", 6, [F], [F], {"low": 1.0}, ["Clip has no attribute low at opset 6"]),
    ("Cast", 13, [F], [F], {}, ["Cast needs the attribute to at opset 13"]),
    ("Flatten", 13, [F], [F], {"axis": 1.0}, ["the attribute axis of Flatten must be of kind INT, not FLOAT"]),
    ("Clip", 6, [F, F, F], [F], {}, ["Clip has at most 1 input at opset 6, not 3 (from opset 11)"]),
    ("MaxPool", 7, [F], [F, I64], {"kernel_shape": [1]}, ["MaxPool has at most 1 output at opset 7, not 2 (from opset 8)"]),
    ("Gemm", 9, [F, F], [F], {}, ["Gemm needs its input C at opset 9 (from opset 11)"]),
    ("MatMul", 13, [F, ABSENT], [F], {}, ["MatMul needs its input B at opset 13"]),
    ("Transpose", 13, [t.INT4], [t.INT4], {}, ["Transpose accepts int4 from opset 21"]),
    ("Cast", 12, [F], [None], {"to": 16}, ["Cast to bfloat16 needs opset 13"]),
    ("Cast", 12, [B], [F], {"to": 1}, ["Cast from bfloat16 needs opset 13"]),
    ("Erf", 13, [t.INT32], [t.INT32], {}, ["Erf accepts int32 only up to opset 12"]),
    ("Where", 13, [t.BOOL, B, B], [B], {}, ["Where accepts bfloat16 as X, Y and output from opset 16"]),
    ("Shape", 13, [F], [F], {}, ["Shape gives no float32"]),
    ("EyeLike", 9, [F], [None], {"dtype": 16}, ["EyeLike gives bfloat16 from opset 22"]),
    ("Add", 13, [F, H], [F], {}, ["Add wants one type for A, B and C at opset 13, not float32 and float16"]),
    ("Concat", 13, [F, I64], [F], {"axis": 0}, ["Concat wants one type for inputs and concat_result at opset 13, not float32 and int64"]),
    ("Flatten", 9, [F], [F], {"axis": -1}, ["Flatten allows a negative axis from opset 11"]),
    ("Squeeze", 9, [F], [F], {"axes": [0, -1]}, ["Squeeze allows a negative axes from opset 11"]),
    ("Mod", 13, [F, F], [F], {}, ["Mod with fmod=0 accepts floating-point numbers from opset 28"]),
    ("Mod", 13, [I64, I64], [I64], {"fmod": 1}, ["Mod with fmod=1 accepts integers from opset 28"]),
    ("Pad", 18, [F, I64], [F], {"mode": "wrap"}, ["Pad knows no mode=wrap at opset 18 (from opset 19)"]),
    ("Resize", 10, [F, F], [F], {"mode": "cubic"}, ["Resize knows no mode=cubic at opset 10 (from opset 11)"]),
    ("GridSample", 20, [F, F], [F], {"mode": "bilinear"}, ["GridSample knows no mode=bilinear at opset 20"]),
]


@pytest.mark.parametrize(("op", "version", "inputs", "outputs", "attributes", "why"), ILLEGAL)
def test_illegal(op: str, version: int, inputs: list[Any], outputs: list[Any], attributes: dict[str, Any], why: list[str]) -> None:
    assert reasons(op, version, inputs, outputs, **attributes) == why


def test_every_problem_is_named_once() -> None:
    found = reasons("Pow", 7, [I64, F], [I64])
    assert found == [
        "Pow accepts int64 from opset 12",
        "Pow wants one type for X, Y and Z at opset 7, not int64 and float32 (from opset 12)",
    ]


def test_the_main_domain_has_two_spellings() -> None:
    assert reasons("Transpose", 13, [t.INT4], [t.INT4], domain="ai.onnx") == ["Transpose accepts int4 from opset 21"]


def test_a_domain_without_schemas_is_not_judged() -> None:
    assert reasons("DequantizeLinear", 1, [t.INT4, F], [F], domain="com.microsoft", axis=3) == []


def test_other_domains_of_onnx_are_judged_by_their_own_opset() -> None:
    assert reasons("LabelEncoder", 1, [F], [F], domain="ai.onnx.ml")[0].startswith("LabelEncoder ")
    assert reasons("TreeEnsemble", 4, [F], [F], domain="ai.onnx.ml") == ["ai.onnx.ml 4 has no operator TreeEnsemble (from opset 5)"]


def test_a_constant_states_its_type() -> None:
    tensor = helper.make_tensor("x", TensorProto.INT4, [2], [1, 2])
    assert reasons("Constant", 13, [], [None], value=tensor) == ["Constant gives int4 from opset 21"]
    assert reasons("Constant", 21, [], [None], value=tensor) == []
    assert reasons("Constant", 12, [], [None], value_float=1.0) == []
