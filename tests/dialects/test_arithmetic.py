"""Steps as plain arithmetic and back: `--to arithmetic`, and what `--to ai.onnx` makes of Cast, Sub and Mul."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper, parser

import qdqtool
from tests.dialects.layouts import Array, Layout, constants, drawn, operators
from tests.dialects.layouts import model as nbits

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures").glob("*.onnx"))
STEPS = {"QuantizeLinear", "DequantizeLinear"}
COME_BACK = ("conv_13", "external_21", "int4_blocked_21", "opset_10", "opset_13", "opset_21", "opset_23", "opset_24", "opset_25")

RNG = np.random.default_rng(0)
BYTES = RNG.integers(0, 256, (8, 32)).astype(np.uint8)
SIGNED = RNG.integers(-128, 128, (8, 32)).astype(np.int8)
GROUPS = RNG.integers(0, 16, (8, 2, 16)).astype(ml_dtypes.uint4)
GROUP_ZEROS = RNG.integers(0, 16, (8, 2, 1)).astype(ml_dtypes.uint4)
SCALES = RNG.uniform(0.01, 0.2, (8, 2, 1)).astype(np.float32)
ROWS, ZEROS = SCALES[:, 0], RNG.integers(0, 256, (8, 1)).astype(np.float32)

DECOMPOSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "OpenVINO, groups of 4 bits": (
        "c = Cast<to=1>(w) z = Cast<to=1>(zp) d = Sub(c, z) m = Mul(d, s) y = Reshape(m, shape)",
        {"w": GROUPS, "zp": GROUP_ZEROS, "s": SCALES, "shape": np.array([8, 32])},
        "DequantizeLinear",
    ),
    "the same in float16": (
        "c = Cast<to=10>(w) z = Cast<to=10>(zp) d = Sub(c, z) m = Mul(d, s) r = Reshape(m, shape) y = Cast<to=1>(r)",
        {"w": GROUPS, "zp": GROUP_ZEROS, "s": SCALES.astype(np.float16), "shape": np.array([8, 32])},
        "DequantizeLinear Cast",
    ),
    "rows without zero points": ("c = Cast<to=1>(w) y = Mul(s, c)", {"w": SIGNED, "s": ROWS}, "DequantizeLinear"),
    "rows with zero points": ("c = Cast<to=1>(w) d = Sub(c, z) y = Mul(d, s)", {"w": BYTES, "z": ZEROS, "s": ROWS}, "DequantizeLinear"),
    "one zero point for rows": (
        "c = Cast<to=1>(w) d = Sub(c, z) y = Mul(d, s)",
        {"w": BYTES, "z": np.float32(128), "s": ROWS},
        "DequantizeLinear",
    ),
    "zero points taken off in int32": (
        "c = Cast<to=6>(w) d = Sub(c, z) f = Cast<to=1>(d) y = Mul(f, s)",
        {"w": BYTES, "z": ZEROS.astype(np.int32), "s": ROWS},
        "DequantizeLinear",
    ),
    "float8": (
        "c = Cast<to=1>(w) y = Mul(c, s)",
        {"w": RNG.normal(size=(8, 32)).astype(ml_dtypes.float8_e4m3fn), "s": ROWS},
        "DequantizeLinear",
    ),
    "zero points with fractions": (
        "c = Cast<to=1>(w) d = Sub(c, z) y = Mul(d, s)",
        {"w": BYTES, "z": ZEROS + 0.5, "s": ROWS},
        "Cast Sub Mul",
    ),
    "zero points beyond the codes": (
        "c = Cast<to=1>(w) d = Sub(c, z) y = Mul(d, s)",
        {"w": BYTES, "z": -1 - ZEROS, "s": ROWS},
        "Cast Sub Mul",
    ),
    "Sub of bytes, which wraps": (
        "d = Sub(w, z) c = Cast<to=1>(d) y = Mul(c, s)",
        {"w": BYTES, "z": ZEROS.astype(np.uint8), "s": ROWS},
        "Sub Cast Mul",
    ),
    "Mul before Sub": ("c = Cast<to=1>(w) m = Mul(c, s) y = Sub(m, z)", {"w": BYTES, "z": ZEROS, "s": ROWS}, "DequantizeLinear Sub"),
    "scales that make it larger": ("c = Cast<to=1>(w) y = Mul(c, s)", {"w": BYTES[0], "s": ROWS}, "Cast Mul"),
    "int16 in float16": (
        "c = Cast<to=10>(w) d = Mul(c, s) y = Cast<to=1>(d)",
        {"w": SIGNED.astype(np.int16) * 200, "s": ROWS.astype(np.float16)},
        "Cast Mul Cast",
    ),
}


def model(body: str, held: dict[str, Any], shape: str = "8, 32", opset: int = 21) -> ModelProto:
    proto: ModelProto = parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}]> g () => (float[{shape}] y) {{ {body} }}')
    proto.graph.initializer.extend(_tensor(name, np.asarray(value)) for name, value in held.items())
    return proto


def _tensor(name: str, value: Array) -> TensorProto:
    if value.dtype == np.dtype(ml_dtypes.uint4):
        return helper.make_tensor(name, TensorProto.UINT4, value.shape, value.astype(np.uint8).reshape(-1))
    return numpy_helper.from_array(value, name)


@pytest.mark.parametrize(("body", "held", "expected"), DECOMPOSED.values(), ids=DECOMPOSED.keys())
def test_what_arithmetic_on_codes_becomes(body: str, held: dict[str, Any], expected: str) -> None:
    result = qdqtool.convert(model(body, held), to="ai.onnx")
    assert operators(result.model) == expected.split()
    assert result.check is not None
    assert result.check.verdict == "equal"


def test_zero_points_of_a_higher_rank_stay() -> None:
    """The result has their rank, and no dequantize gives it another than its codes."""
    body = "c = Cast<to=6>(w) d = Sub(c, z) f = Cast<to=1>(d) y = Mul(f, s)"
    held = {"w": BYTES, "z": np.full((1, 1, 1), 3, np.int32), "s": np.float32(0.1)}
    result = qdqtool.convert(model(body, held, "1, 8, 32"), to="ai.onnx")
    assert operators(result.model)[:2] == ["Cast", "Sub"]
    assert result.check is not None
    assert result.check.verdict == "equal"


@pytest.mark.parametrize("scale", [0.0, np.inf, np.nan])
def test_a_quotient_that_may_be_nan_stays(scale: float) -> None:
    """Arithmetic makes code 0 of NaN, QuantizeLinear the lowest one."""
    body = "q = Div(x, s) r = Round(q) c = Clip(r, low, high) y = Cast<to=3>(c)"
    held = {"s": np.array([1, scale], np.float32), "low": np.float32(-128), "high": np.float32(127)}
    proto: ModelProto = parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> g (float[3, 2] x) => (int8[3, 2] y) {{ {body} }}')
    proto.graph.initializer.extend(_tensor(name, np.asarray(value)) for name, value in held.items())
    result = qdqtool.convert(proto, to="ai.onnx")
    assert operators(result.model)[0] == "Div"
    assert result.check is not None
    assert result.check.verdict == "equal"


@pytest.mark.parametrize("path", FIXTURES, ids=lambda p: p.stem)
def test_steps_become_arithmetic(path: Path) -> None:
    result = qdqtool.convert(path, to="arithmetic")
    assert result.check is not None
    assert result.check.verdict == "equal"
    assert not STEPS & {node.op_type for node in every_node(result.model)}


@pytest.mark.parametrize("opset", [7, 9, 11, 13])
@pytest.mark.parametrize("name", ["conv_13", "int4_blocked_21", "com_microsoft_17", "opset_25"])
def test_at_any_opset(name: str, opset: int) -> None:
    result = qdqtool.convert(next(p for p in FIXTURES if p.stem == name), to="arithmetic", opset=opset)
    assert result.check is not None
    assert result.check.verdict == "equal"
    assert not STEPS & set(operators(result.model))


@pytest.mark.parametrize("name", COME_BACK)
def test_there_and_back(name: str) -> None:
    path = next(p for p in FIXTURES if p.stem == name)
    opset = onnx.load(path, load_external_data=False).opset_import[0].version
    there = qdqtool.convert(path, to="arithmetic", check=False).model
    result = qdqtool.convert(there, to="ai.onnx", opset=opset)
    assert result.check is not None
    assert result.check.verdict == "equal"
    assert operators(result.model) == operators(onnx.load(path, load_external_data=False))


def every_node(proto: ModelProto) -> list[Any]:
    found: list[Any] = []
    waiting = [*proto.graph.node, *(node for f in proto.functions for node in f.node)]
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += [inner for a in node.attribute for inner in a.g.node]
    return found


def test_what_is_not_arithmetic_keeps_its_codes() -> None:
    """Narrow codes in a wide type are for `--simplify` to find."""
    narrow = model("y = DequantizeLinear(w, s)", {"w": SIGNED % 8, "s": np.float32(0.1)})
    assert constants(qdqtool.convert(narrow, to="ai.onnx", check=False).model)["w"].dtype == np.int8
    assert constants(qdqtool.convert(narrow, opset=21, simplify=True, check=False).model)["w_int4"].dtype == ml_dtypes.int4


def test_without_a_dialect_arithmetic_stays() -> None:
    body, held, _ = DECOMPOSED["rows with zero points"]
    assert operators(qdqtool.convert(model(body, held), opset=20, check=False).model) == ["Cast", "Sub", "Mul"]


def test_fused_operators_are_split_too() -> None:
    layout = Layout(4, 32, 64, 8, "packed")
    result = qdqtool.convert(nbits(layout, drawn(layout)), to="arithmetic")
    assert operators(result.model) == ["Cast", "Sub", "Mul", "Reshape", "Transpose", "MatMul"]
    assert result.check is not None
    assert result.check.verdict in ("equal", "within bound")
    back = qdqtool.convert(result.model, to="ai.onnx", check=False).model
    assert operators(back) == ["DequantizeLinear", "MatMul"]


def test_what_arithmetic_does_not_say_is_refused() -> None:
    with pytest.raises(qdqtool.Refused) as refused:
        qdqtool.convert(next(p for p in FIXTURES if p.stem == "opset_19"), to="arithmetic", opset=7)
    assert {r for refusal in refused.value.reasons for r in refusal.reasons} == {
        "plain arithmetic of opset 7 does not say it",
        "Cast from float8e4m3fn needs opset 19",
    }


def test_it_excludes_other_dialects() -> None:
    with pytest.raises(qdqtool.errors.Usage, match="exclude each other"):
        qdqtool.convert(FIXTURES[0], to="arithmetic,matmulnbits")


def parameters(proto: ModelProto) -> list[tuple[Any, ...]]:
    """Of every step type, size and bits of each constant it reads; a zero point of 0 may be left out."""
    held = {t.name: t for t in proto.graph.initializer}
    held |= {n.output[0]: n.attribute[0].t for n in proto.graph.node if n.op_type == "Constant"}
    steps = [node for node in proto.graph.node if node.op_type in STEPS]
    read = [(n.op_type, [(slot, _bits(held[name])) for slot, name in enumerate(n.input) if name in held]) for n in steps]
    return sorted((op, *(c for slot, c in consts if slot < 2 or any(c[2]))) for op, consts in read)


def _bits(tensor: TensorProto) -> tuple[Any, ...]:
    array = numpy_helper.to_array(tensor)
    return tensor.data_type, array.size, array.tobytes()


@pytest.mark.parametrize(
    ("name", "dialect"),
    [
        ("nncf/unet_l13_nncf", "arithmetic"),
        ("nncf/unet_l13_nncf", "fakequantize"),
        ("nncf/llama_d21_nncf_w_int8_asym", "arithmetic"),
        *(
            pytest.param(f"nncf/{name}", dialect, marks=pytest.mark.full)
            for name in ("mobilenet_l13_nncf_mixed", "bert_l17_nncf_transformer")
            for dialect in ("arithmetic", "fakequantize")
        ),
    ],
)
def test_real_models_there_and_back(corpus: Path, name: str, dialect: str) -> None:
    path = corpus / "models" / f"{name}.onnx"
    original = onnx.load(path)
    opset = original.opset_import[0].version
    there = qdqtool.convert(path, to=dialect)
    assert dialect != "arithmetic" or not STEPS & set(operators(there.model))
    back = qdqtool.convert(there.model, to="ai.onnx", opset=opset)
    assert parameters(back.model) == parameters(original)
    for result in (there, back):
        assert result.check is not None
        assert result.check.verdict in (("equal",) if dialect == "arithmetic" else ("equal", "within bound"))
        assert result.model.ByteSize() <= original.ByteSize() + 4096 + 512 * len(original.graph.node)


def test_fake_quantize_as_openvino_imports_it(corpus: Path) -> None:
    result = qdqtool.convert(corpus / "models" / "openvino" / "onnx" / "fake_quantize_const_inputs.onnx", to="ai.onnx", opset=13)
    assert operators(result.model)[-9:] == ["Max", "Min", "Sub", "Div", "Mul", "Round", "Div", "Mul", "Add"]
    assert result.check is not None
    assert result.check.verdict in ("equal", "within bound")
