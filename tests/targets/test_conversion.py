"""``convert --for`` the runtimes that are no ONNX Runtime: what `validate` has against a model goes, or the model is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, numpy_helper

import qdqtool
from qdqtool import dtypes as t
from qdqtool.conversion import Conversion
from qdqtool.errors import CheckFailed, Refused
from qdqtool.findings import Finding
from qdqtool.kernels import recode
from qdqtool.linting import obstacles
from qdqtool.linting.engine import linted
from qdqtool.linting.subject import Subject
from qdqtool.model.load import load
from qdqtool.rules import all_rules, name_of
from qdqtool.targets import all_targets, profile
from tests.conftest import ROOT
from tests.node_cases import ABSENT, CORPUS
from tests.rules.case import codes, model, scales, zeros
from tests.rules.runtimes.test_vendors import GIVEN
from tests.rules.runtimes.vendors.models import Given, pair, weight

RULES = [rule for code, rule in all_rules().items() if code.startswith("QDQ4")]
TARGETS = [
    str(found)
    for name, runtime in all_targets().items()
    if name not in ("ort", "opset")
    for version in runtime.versions() or (None,)
    if (found := runtime.profile(version)) is not None and found.converts
]
ASKED = [given for given in GIVEN if profile(given.target).converts]
MENDED = (
    "int4-in-tvm",
    "bfloat16-in-tvm",
    "blocks-in-tvm",
    "precision-in-tvm",
    "half-of-16-bits-in-tvm",
    "half-of-int32-in-tvm",
    "output-dtype-in-tract",
    "half-in-tract",
    "blocks-in-tract",
    "computed-scale-in-tract",
    "blocked-activation-in-coreml",
    "blocks-in-ios-17",
    "short-block-in-coreml",
    "shapes-in-coreml",
    "int4-in-directml-6.2",
    "no-zero-point-in-directml-5",
    "short-block-in-openvino",
    "short-quantized-block-in-openvino",
    "bare-block-in-openvino",
    "half-scale-in-openvino",
    "sum-in-openvino",
    "gemm-in-openvino",
    "gathered-columns-in-openvino",
    "scales-in-openvino",
    "g-idx-in-openvino",
    "asymmetric-channels-in-qnn",
    "uint8-bias-in-qnn",
    "uint4-blocks-in-qnn",
    "int2-in-qnn",
    "no-zero-point-of-int4-in-qnn",
    "no-axis-in-trt",
    "short-block-in-trt",
    "odd-row-in-trt",
    "odd-number-in-trt",
    "float4-blocks-in-trt",
    "uint8-in-a8w8",
)
"""Of the models that a rule finds fault with, those that are rewritten; the others are refused, or stay with a warning."""


def errors(made: ModelProto, target: str, base_dir: Path | None = None) -> list[Finding]:
    found = linted(Subject(load(made, base_dir, trusting=True), profile(target)), RULES).findings
    return [finding for finding in found if finding.severity == "error"]


def converted(made: ModelProto | Path, target: str, **options: Any) -> Conversion | None:
    """None where it is refused, each place with a reason."""
    try:
        return qdqtool.convert(made, target=target, **options)
    except Refused as refused:
        require_reasons(refused)
    return None


def require_reasons(refused: Refused) -> None:
    assert refused.reasons
    assert all(reason.at and all(reason.reasons) for reason in refused.reasons)


@pytest.mark.parametrize("given", ASKED, ids=lambda given: given.name)
def test_what_a_rule_finds_goes_or_is_refused(given: Given) -> None:
    done = converted(given.bad, given.target)
    assert (done is not None and len(done.changes) > 0) is (given.name in MENDED)
    if done is not None:
        assert errors(done.model, given.target) == []
        assert done.check is not None
        assert done.check.verdict == ("not checked" if given.name == "extended-in-vitis" else "equal")
    if given.name in MENDED:
        assert done is not None
        assert given.code not in {finding.code for finding in linted(Subject(load(done.model), profile(given.target)), RULES).findings}


def test_rules_are_called_as_they_are() -> None:
    assert {name_of(rule) for rule in RULES} >= obstacles.OF_STEPS | obstacles.OF_OPERATORS


FIXTURES = sorted((ROOT / "fixtures").glob("*.onnx"))


NEWEST = sorted({target.partition("@")[0]: target for target in TARGETS}.values())
OLDER = [pytest.param(target, marks=pytest.mark.full) for target in TARGETS if target not in NEWEST]


@pytest.mark.parametrize("target", [*NEWEST, "opset@17", *OLDER])
def test_every_fixture_is_converted_without_an_error_or_refused(target: str) -> None:
    left = {}
    for path in FIXTURES:
        done = converted(path, target, check=False)
        if done is not None and (found := errors(done.model, target, path.parent)):
            left[path.name] = found[0]
    assert left == {}


SAMPLE = (
    "ort_quant/unet_l13_qdq_u8s8_pc",
    "ort_quant/resnet_d21_qdq_u8s4w_pc",
    "ort_quant/unet_l17_qop_u8s8",
    "ort_quant/llama_d21_qdq4_asym_b16",
    "quark/resnet_l17_quark_xint8",
    "torch_native/pt2e_x86_dynamo21",
    "tf2onnx/cnn_int8_op13",
    "emmtrix/micro_kws_m_static_qoperator",
    "ort_testdata/conv_qdq_external_ini",
    "modelopt_torch/mlp_mt_fp8",
)


@pytest.mark.full
@pytest.mark.skipif(bool(ABSENT), reason=ABSENT)
@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.parametrize("target", TARGETS)
def test_a_model_of_others_is_converted_without_an_error_or_refused(name: str, target: str) -> None:
    path = CORPUS / "models" / f"{name}.onnx"
    done = converted(path, target)
    if done is not None:
        assert errors(done.model, target, path.parent) == []
        assert done.check is not None
        assert done.check.verdict in ("equal", "within bound", "not checked")


def storages(made: ModelProto) -> list[str]:
    """Types of the initializers of integers, by name of the initializer."""
    return [str(t.of_code(i.data_type)) for i in made.graph.initializer if i.data_type != TensorProto.FLOAT]


def constant_of(made: ModelProto, name: str) -> Any:
    return numpy_helper.to_array(next(i for i in made.graph.initializer if i.name == name))


def done(made: ModelProto, target: str) -> ModelProto:
    found = converted(made, target)
    assert found is not None
    assert found.check is not None
    assert found.check.verdict == "equal"
    assert errors(found.model, target) == []
    onnx.checker.check_model(found.model, full_check=True)
    return found.model  # type: ignore[no-any-return]


MOVED = """g (float[4, 8] x) => (float[2, 8] y) { q = QuantizeLinear(x, s, z) r = Transpose<perm = [1, 0]>(q)
    e = Reshape(r, shape) c = Concat<axis = 0>(e, more) p = Slice(c, one, three) y = DequantizeLinear(p, s, z) }"""
LENGTHS = {"shape": np.array([4, 8]), "one": np.array([1]), "three": np.array([3]), "more": codes(t.UINT8, 1, 8)}


def test_codes_of_the_run_become_signed_together_with_all_that_moves_them() -> None:
    given = model(MOVED, 19, s=0.5, z=np.uint8(128), **LENGTHS)
    made = done(given, "tensorrt@10.0")
    assert [node.op_type for node in made.graph.node] == [node.op_type for node in given.graph.node]
    assert "uint8" not in storages(made)
    assert storages(made).count("int8") == 2  # the zero point, and the constant that is joined


@pytest.mark.parametrize(("zero", "reason"), [(0, "zero point not zero"), (127, "zero point not zero")])
def test_a_zero_point_elsewhere_is_refused_for_symmetric_runtimes(zero: int, reason: str) -> None:
    with pytest.raises(Refused, match=f"as signed codes: .*{reason}") as caught:
        qdqtool.convert(model(MOVED, 19, s=0.5, z=np.uint8(zero), **LENGTHS), target="tensorrt@10.0")
    assert len(caught.value.reasons) == 2


@pytest.mark.parametrize(
    ("reader", "reason"),
    [("c = Cast<to = 6>(q)", "reads the codes as numbers"), ("c = MaxPool<kernel_shape = [1]>(q)", "computes with its codes")],
)
def test_codes_that_somebody_counts_with_stay_unsigned(reader: str, reason: str) -> None:
    kind = "int32" if "Cast" in reader else "uint8"
    text = f"""g (float[1, 4, 8] x) => (float[1, 4, 8] y, {kind}[1, 4, 8] c) {{ q = QuantizeLinear(x, s, z) {reader}
        y = DequantizeLinear(q, s, z) }}"""
    with pytest.raises(Refused, match=reason):
        qdqtool.convert(model(text, 19, s=0.5, z=np.uint8(128)), target="tensorrt@10.0")


def test_a_bias_becomes_real_where_its_codes_are_not_taken() -> None:
    text = """g (float[1, 4, 8, 8] x) => (float[1, 8, 8, 8] y) { q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z)
        v = DequantizeLinear<axis = 0>(w, sw, zw) c = DequantizeLinear<axis = 0>(b, sb) p = Conv(d, v, c)
        r = QuantizeLinear(p, s, z) y = DequantizeLinear(r, s, z) }"""
    given = {"w": codes(t.UINT8, 8, 4, 1, 1) // 2 + 64, "sw": scales(8), "zw": np.full(8, 128, np.uint8)}
    made = done(model(text, 13, s=0.5, z=np.uint8(128), sb=scales(8), b=np.arange(8, dtype=np.int32), **given), "tensorrt@8.4")
    assert set(storages(made)) == {"int8"}
    assert [node.op_type for node in made.graph.node].count("DequantizeLinear") == 3


def test_asymmetric_weights_become_symmetric_only_where_they_fit() -> None:
    narrow = codes(t.UINT8, 4, 8) // 2 + 60
    text = "g (float[2, 4] x) => (float[2, 8] y) { v = DequantizeLinear<axis = 1>(w, s, z) y = MatMul(x, v) }"
    made = done(model(text, 13, w=narrow, s=scales(8), z=np.full(8, 90, np.uint8)), "tensorrt@10.0")
    assert set(storages(made)) == {"int8"}
    with pytest.raises(Refused, match="zero point not zero"):
        qdqtool.convert(
            model(text, 13, w=np.resize(np.uint8([0, 255]), (4, 8)), s=scales(8), z=np.full(8, 90, np.uint8)), target="tensorrt@10.0"
        )


def test_the_axis_is_written_where_the_default_differs() -> None:
    made = done(weight(t.INT8, axis=None), "tensorrt@10.0")
    assert [(a.name, a.i) for a in made.graph.node[0].attribute] == [("axis", 1)]
    untouched = weight(t.INT8)
    assert done(untouched, "tensorrt@10.0").SerializeToString() == untouched.SerializeToString()


def test_what_says_nothing_to_the_runtime_goes() -> None:
    text = "g (float[4, 8] x) => (float[4, 8] y) { q = QuantizeLinear<output_dtype = 3>(x, s) y = DequantizeLinear(q, s) }"
    made = done(model(text, 21, s=0.5), "tract")
    assert [len(node.attribute) for node in made.graph.node] == [0, 0]
    assert constant_of(made, made.graph.node[0].input[2]).dtype == np.int8


def test_all_that_stands_in_the_way_is_told_at_once() -> None:
    text = """g (float[1, 4, 8, 8] x) => (float[1, 8, 8, 8] y) { q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z)
        v = DequantizeLinear<axis = 0>(w, sw, zw) p = Conv(d, v) y = Softmax(p) }"""
    given = {"w": codes(t.INT8, 8, 4, 1, 1), "sw": np.array(scales(8)), "zw": zeros(t.INT8, 8)}
    with pytest.raises(Refused) as caught:
        qdqtool.convert(model(text, 25, s=np.float32(0.5), z=zeros(t.INT2), **given), target="qnn")
    assert {reason.at.partition(" (")[0] for reason in caught.value.reasons} == {"main / q", "main / p"}
    assert "output-type-differs" in {reason.code for reason in caught.value.reasons}


def test_a_runtime_that_may_compute_in_floats_is_not_made_to() -> None:
    with pytest.raises(Refused, match="no type int16"):
        qdqtool.convert(pair(t.INT16, 21), target="litert")
    assert [node.op_type for node in qdqtool.convert(pair(t.INT16, 21), opset=17, check=False).model.graph.node][:3] == [
        "Div",
        "Round",
        "Add",
    ]


def test_the_check_finds_codes_that_were_moved_wrongly(monkeypatch: pytest.MonkeyPatch) -> None:
    shifted = lambda sources, params: recode.Mapped(sources[0], params[0], lambda a: (a.astype(np.int32) - 127).astype(np.int8))  # noqa: E731
    given = model(MOVED, 19, s=0.5, z=np.uint8(100), **LENGTHS)
    assert "uint8" not in storages(done(given, "litert"))
    monkeypatch.setitem(recode.KERNELS, "recentre", shifted)
    with pytest.raises(CheckFailed):
        qdqtool.convert(given, target="litert")


def test_new_weights_are_judged_before_they_are_written() -> None:
    text = "g (float[2, 512] x) => (float[2, 512] y) { v = DequantizeLinear<axis = 1>(w, s, z) y = MatMul(x, v) }"
    wide = np.resize(np.arange(1, 256, dtype=np.uint8), (512, 512))
    made = model(text, 13, w=wide, s=scales(512), z=np.full(512, 128, np.uint8))
    assert storages(done(made, "litert")) == ["int8"]
    with pytest.raises(Refused, match="has codes of -128"):
        qdqtool.convert(model(text, 13, w=wide - np.uint8(1), s=scales(512), z=np.full(512, 128, np.uint8)), target="litert")


def test_a_fused_operator_that_cannot_be_split_for_a_runtime_is_refused_with_its_reason() -> None:
    text = """g (uint8[2, 4] x) => (uint8[2, 8] y) { y = QLinearMatMul(x, s, z, w, s, z, s, z) }"""
    with pytest.raises(Refused) as caught:
        qdqtool.convert(model(text, 13, s=0.5, z=np.uint8(128), w=codes(t.UINT8, 4, 8)), target="tensorrt@10.0")
    assert [reason.at for reason in caught.value.reasons] == ["main / y"]
