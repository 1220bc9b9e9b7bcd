"""``convert --for``: the opset that is chosen and why, what is rewritten for kernels and faults, and what is warned of or refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, parser

import qdqtool
from qdqtool import pipeline
from qdqtool.errors import Refused, Usage
from qdqtool.model import tensors
from qdqtool.request import Request
from qdqtool.targets import profile
from qdqtool.targets.profile import EVERY

Constants = dict[str, Any]


def model(text: str, constants: Constants | None = None) -> ModelProto:
    """A model of a text, with initializers."""
    parsed = parser.parse_model(text)
    parsed.graph.initializer.extend(tensors.make(name, np.asarray(array)) for name, array in (constants or {}).items())
    return parsed


def ops(conversion: Any) -> list[str]:
    return [f"{node.domain}.{node.op_type}".lstrip(".") for node in conversion.model.graph.node]


def choice(conversion: Any) -> str:
    return str(conversion.notes[0])


INT8 = {"s": np.float32(0.5), "z": np.int8(3)}
PAIR = """<ir_version: 9, opset_import: ["" : OPSET]> g (float[2, 8] x) => (float[2, 8] y) {
    q = QuantizeLinear ATTRIBUTES (x, s, z)  d = DequantizeLinear(q, s, z)  r = OP(d)  y = Sigmoid(r) }"""


def pair(opset: int, op: str = "Relu", attributes: str = "") -> ModelProto:
    text = PAIR.replace("OPSET", str(opset)).replace("ATTRIBUTES", attributes).replace("OP", op)
    return model(text, INT8)


def test_an_opset_at_which_everything_runs_stays(fixtures: Path, tmp_path: Path) -> None:
    done = qdqtool.convert(fixtures / "conv_13.onnx", target="ort@1.17", output=tmp_path / "out.onnx")
    assert (tmp_path / "out.onnx").read_bytes() == (fixtures / "conv_13.onnx").read_bytes()
    assert done.notes == ("opset 13 stays for ort@1.17 (measured in onnxruntime 1.17.3), which loads 7 to 20",)


@pytest.mark.parametrize(("version", "opset", "ir"), [("1.17", 20, 9), ("1.19", 21, 10), ("1.32", 21, 10)])
def test_the_nearest_opset_that_the_runtime_loads(fixtures: Path, version: str, opset: int, ir: int) -> None:
    done = qdqtool.convert(fixtures / "int4_blocked_21.onnx", target=f"ort@{version}")
    assert (done.target_opset, done.ir[1]) == (opset, ir)
    assert done.check is not None
    assert done.check.verdict == "equal"


def test_an_opset_without_kernels_is_left_for_one_that_has_them() -> None:
    done = qdqtool.convert(pair(19), target="ort@1.15")
    assert (done.target_opset, len(done.changes)) == (18, 0)
    assert choice(done).endswith(": at 19 ort@1.15 has no kernel of QuantizeLinear-19")


def test_the_opset_at_which_the_least_changes_is_taken(fixtures: Path) -> None:
    done = qdqtool.convert(fixtures / "opset_28.onnx", target="ort@1.32")
    assert (done.target_opset, len(done.changes)) == (27, 1)
    assert choice(done).endswith("at 28 3 nodes would change, here 1")


def test_operators_decide_too() -> None:
    text = """<ir_version: 10, opset_import: ["" : 22]> g (float[1, 1, 4, 4] x, float[1, 4] b, int64[1] i) => (float[1, 1, 1, 1] y)
        { y = RoiAlign<coordinate_transformation_mode = "half_pixel">(x, b, i) }"""
    done = qdqtool.convert(model(text), target="ort@1.32", check=False)
    assert done.target_opset < 22
    assert "ort@1.32 has no kernel of RoiAlign-22" in choice(done)


def test_it_is_raised_only_when_no_lower_opset_runs() -> None:
    lacking = {"Relu": {since: frozenset({EVERY}) for since in (6, 13)}}
    fake = replace(profile("ort@1.32"), lacking=lacking)
    done = pipeline.convert(pair(13), None, Request(profile=fake, check=False))
    assert (done.source_opset, done.target_opset) == (13, 14)
    assert "ort@1.32 has no kernel of Relu-13" in choice(done)
    done = pipeline.convert(pair(13), None, Request(profile=replace(fake, lacking={"Relu": {13: frozenset({EVERY})}}), check=False))
    assert done.target_opset == 12


def test_forms_without_kernel_are_lowered_at_the_same_opset() -> None:
    text = """<ir_version: 11, opset_import: ["" : 23]> g (float[2, 8] x) => (float[2, 8] y) {
        d = DequantizeLinear<output_dtype = 1>(w, s, z)  y = Mul(x, d) }"""
    constants = {
        "w": np.arange(-8, 8, dtype=np.int8).reshape(2, 8),
        "s": np.asarray(0.5, ml_dtypes.bfloat16),
        "z": np.asarray(1, np.int8),
    }
    done = qdqtool.convert(model(text, constants), target="ort@1.32")
    assert done.target_opset == 23
    assert [node.op_type for node in done.model.graph.node] == ["DequantizeLinear", "Mul"]
    assert {t.data_type for t in done.model.graph.initializer} == {TensorProto.INT8, TensorProto.FLOAT}


@pytest.mark.parametrize(("version", "spelled"), [("1.17", "com.microsoft.QuantizeLinear"), ("1.15", "QuantizeLinear")])
def test_com_microsoft_is_preferred_where_the_runtime_has_it(version: str, spelled: str) -> None:
    text = """<ir_version: 10, opset_import: ["" : 21]> g (float[2, 8] x) => (float[2, 8] y) {
        q = QuantizeLinear(x, s, z)  y = DequantizeLinear(q, s, z) }"""
    done = qdqtool.convert(model(text, {"s": np.float32(0.01), "z": np.uint16(9)}), target=f"ort@{version}")
    assert done.check is not None
    assert done.check.verdict == "equal"
    assert (spelled in ops(done)) is (version == "1.17")


def test_a_kernel_that_computes_otherwise_is_avoided() -> None:
    text = """<ir_version: 9, opset_import: ["" : 19]> g (float16[2, 8] x) => (float16[2, 8] y) {
        q = QuantizeLinear(x, s, z)  y = DequantizeLinear(q, s, z) }"""
    constants = {"s": np.float16(0.0123), "z": np.int8(3)}
    assert ops(qdqtool.convert(model(text, constants), target="ort@1.32")) == ["QuantizeLinear", "DequantizeLinear"]
    assert ops(qdqtool.convert(model(text, constants), target="ort@1.17")) == ["com.microsoft.QuantizeLinear", "DequantizeLinear"]


def test_codes_travel_in_a_type_that_the_movers_have_kernels_for() -> None:
    text = """<ir_version: 10, opset_import: ["" : 21]> g (float[4, 8] x) => (float[4, 8] y) <int64[2] shape = {4, 8}> {
        r = Reshape(w, shape)  d = DequantizeLinear(r, s)  y = Mul(x, d) }"""
    constants = {"w": (np.arange(32).reshape(2, 16) % 16 - 8).astype(ml_dtypes.int4), "s": np.float32(0.5)}
    done = qdqtool.convert(model(text, constants), target="ort@1.32")
    assert (done.target_opset, ops(done)) == (21, ["Reshape", "DequantizeLinear", "Mul"])
    assert [t.data_type for t in done.model.graph.initializer if t.dims == [2, 16]] == [TensorProto.INT8]


def test_output_dtype_beside_a_zero_point_goes_where_it_breaks() -> None:
    written = pair(21, attributes="<output_dtype = 3>")
    done = qdqtool.convert(written, target="ort@1.22")
    assert [a.name for a in done.model.graph.node[0].attribute] == []
    assert [a.name for a in qdqtool.convert(written, opset=21).model.graph.node[0].attribute] == ["output_dtype"]


def test_an_opset_whose_models_the_optimizer_breaks_is_left() -> None:
    done = qdqtool.convert(pair(21, "Transpose"), target="ort@1.32", check=False)
    assert (done.target_opset, len(done.changes)) == (20, 0)
    assert "breaks Transpose behind int8 DequantizeLinear of opset 21 on" in choice(done)
    assert qdqtool.convert(pair(21, "Transpose"), target="ort@1.26", check=False).target_opset == 21


def test_imports_that_nothing_uses_do_not_stop_the_runtime() -> None:
    written = pair(13)
    written.opset_import.append(helper.make_opsetid("ai.onnx.ml", 5))
    done = qdqtool.convert(written, target="ort@1.17")
    assert [(o.domain, o.version) for o in done.model.opset_import] == [("", 13)]
    assert "the import of ai.onnx.ml 5, which nothing uses, is gone" in done.notes
    assert len(qdqtool.convert(written, target="ort@1.19").model.opset_import) == 2


CAUTIONS = {
    "no such operator": (
        '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g (float[2, 32] x) => (float[2, 31, 2] y)'
        "{ y = com.microsoft.UnfoldTensor <dim = 1, size = 2> (x) }",
        {},
        "caution: 1 node may not run, since ort@1.15 has no com.microsoft UnfoldTensor",
    ),
    "no such pair of types": (
        '<ir_version: 8, opset_import: ["" : 17]> g (int8[2, 4] x) => (int32[2, 4] y) { y = MatMulInteger(x, w) }',
        {"w": np.ones((4, 4), np.uint8)},
        "caution: 1 node may not run, since ort@1.15 has no kernel of MatMulInteger-10 for int8:uint8",
    ),
}


@pytest.mark.parametrize("name", CAUTIONS)
def test_what_will_not_run_is_refused_or_said_where_the_opset_is_given(name: str) -> None:
    text, constants, note = CAUTIONS[name]
    with pytest.raises(Refused, match=r"ort@1\.15 cannot run 1 place of the model at any opset") as caught:
        qdqtool.convert(model(text, constants), target="ort@1.15", check=False)
    (reason,) = caught.value.reasons
    assert (reason.code, reason.hint) == ("runtime-lacks", "--opset 17 writes it all the same")
    assert reason.reasons[0] in note
    assert note in qdqtool.convert(model(text, constants), target="ort@1.15", opset=17, check=False).notes
    assert not [n for n in qdqtool.convert(model(text, constants), target="ort", check=False).notes if n.startswith("caution")]


def test_a_type_that_the_runtime_does_not_know_is_said() -> None:
    text = """<ir_version: 10, opset_import: ["" : 19]> g (float[2] x, float8e4m3fn[2] unused) => (float[2] y) { y = Relu(x) }"""
    notes = qdqtool.convert(model(text), target="ort@1.15", opset=19, check=False).notes
    assert "caution: 1 node may not run, since ort@1.15 does not know float8e4m3fn" in notes


def test_an_ir_version_that_the_runtime_does_not_take_is_refused() -> None:
    text = """<ir_version: 10, opset_import: ["" : 20]> g (float[2] x, int4[2] unused) => (float[2] y) { y = Relu(x) }"""
    with pytest.raises(Refused) as caught:
        qdqtool.convert(model(text), target="ort@1.17", opset=20, check=False)
    (reason,) = caught.value.reasons
    assert (reason.code, reason.reasons) == ("ir-version", ("element type int4 needs ir_version 10, and ort@1.17 takes none above 9",))


def test_a_refusal_names_the_runtime_and_promises_nothing(fixtures: Path) -> None:
    text = """<ir_version: 10, opset_import: ["" : 21]> g (float[2] x) => (int4[2] y) { y = QuantizeLinear(x, s, z) }"""
    constants = {"s": np.float32(1), "z": np.asarray(0, ml_dtypes.int4)}
    with pytest.raises(Refused, match=r"ort@1\.17 at opset 20 cannot express 1 of 1 quantize/dequantize nodes") as caught:
        qdqtool.convert(model(text, constants), target="ort@1.17", check=False)
    assert caught.value.reasons[0].hint == ""


def test_an_opset_may_be_asked_for_within_the_limits() -> None:
    done = qdqtool.convert(pair(21), target="ort@1.19", opset=17)
    assert (done.target_opset, [n for n in done.notes if "chosen" in n]) == (17, [])
    with pytest.raises(Usage, match=r"ort@1\.19 does not load opset 22") as caught:
        qdqtool.convert(pair(21), target="ort@1.19", opset=22)
    assert caught.value.code == "opset-out-of-reach"


def test_a_model_older_than_all_targets_is_raised() -> None:
    text = """<ir_version: 3, opset_import: ["" : 6]> g (float[2] x) => (float[2] y) { y = Relu(x) }"""
    done = qdqtool.convert(model(text), target="ort@1.17")
    assert (done.source_opset, done.target_opset) == (6, 7)


@pytest.mark.parametrize("opset", [13, 17, 23])
def test_an_opset_as_target_is_that_opset(opset: int) -> None:
    by_name, plain = qdqtool.convert(pair(19), target=f"opset@{opset}"), qdqtool.convert(pair(19), opset=opset)
    assert by_name.model.SerializeToString() == plain.model.SerializeToString()
    assert by_name.notes == (f"opset@{opset} is opset {opset}", *plain.notes)


REAL = (
    "models/ort_quant/resnet_d21_qdq_u16s8_main.onnx",
    "models/ort_quant/mobilenet_d21_qdq_s8s8_pc.onnx",
    "models/brevitas/cnn_qcdq_dynamo_w8a8.onnx",
)


@pytest.mark.parametrize("name", REAL)
def test_real_models_for_an_older_runtime(corpus: Path, tmp_path: Path, name: str) -> None:
    done = qdqtool.convert(corpus / name, target="ort@1.17", output=tmp_path / "out.onnx")
    assert done.check is not None
    assert (done.check.verdict, done.check.complete) == ("equal", True)
    written = onnx.load(tmp_path / "out.onnx")
    assert {o.domain: o.version for o in written.opset_import}[""] <= 20
    assert written.ir_version <= 9
    assert not [note for note in done.notes if note.startswith("caution")]
    onnx.checker.check_model(written)
