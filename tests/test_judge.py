"""The judge must see what a bad converter does: each planted fault has its verdict, and leaving a model alone is exact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from qdqtool import dtypes
from qdqtool.exactness import Bound, Exactness
from tests.graphs import suite
from tests.graphs.case import Case
from tests.graphs.draft import Draft
from tests.judge import Subject, judge
from tests.judging.evaluator import array_of

CASES = {c.id: c for c in suite()}
BLOCKED = "constant-typed-fields/int4-zero@21"
METADATA = "metadata/int4@21"
NARROW = "mixed-types/int8-float16-float32@23"


def _subject(case: Case) -> Subject:
    return Subject(case.model(), case.shapes, case.id)


def _node(model: ModelProto, op: str) -> NodeProto:
    return next(n for n in model.graph.node if n.op_type == op)


def _tensor(model: ModelProto, name: str) -> TensorProto:
    return next(t for t in model.graph.initializer if t.name == name)


def _replace(model: ModelProto, name: str, change: Callable[[np.ndarray], np.ndarray]) -> None:
    tensor = _tensor(model, name)
    tensor.CopyFrom(numpy_helper.from_array(np.asarray(change(array_of(tensor))), name))


def one_ulp(model: ModelProto) -> None:
    _replace(model, "scale", lambda s: np.nextafter(s, np.float32(9)))


def no_zero_point(model: ModelProto) -> None:
    del _node(model, "DequantizeLinear").input[2]


def swapped_codes(model: ModelProto) -> None:
    _replace(model, "weight", lambda w: w[::-1].copy())


def repeated_scale(model: ModelProto) -> None:
    _replace(model, "scale", lambda s: np.broadcast_to(s[:, :1], s.shape).copy())


def wrong_shape(model: ModelProto) -> None:
    _replace(model, "scale", lambda s: np.concatenate([s, s], axis=1))
    _replace(model, "zero", lambda z: np.concatenate([z, z], axis=1))


def no_block_size(model: ModelProto) -> None:
    node = _node(model, "DequantizeLinear")
    node.attribute.remove(next(a for a in node.attribute if a.name == "block_size"))


def axis_out_of_range(model: ModelProto) -> None:
    next(a for a in _node(model, "DequantizeLinear").attribute if a.name == "axis").i = 2


def later_attribute(model: ModelProto) -> None:
    _node(model, "DequantizeLinear").attribute.append(helper.make_attribute("output_dtype", 1))


def wrong_import(model: ModelProto) -> None:
    model.opset_import[0].version = 19


def low_ir(model: ModelProto) -> None:
    model.ir_version = 9


def renamed_output(model: ModelProto) -> None:
    model.graph.output[0].name = _node(model, "DequantizeLinear").output[0] = "other"


def no_producer(model: ModelProto) -> None:
    model.producer_name = ""


def no_node_doc(model: ModelProto) -> None:
    _node(model, "MatMul").doc_string = ""


def no_metadata(model: ModelProto) -> None:
    del _node(model, "DequantizeLinear").metadata_props[:]


def no_value_info(model: ModelProto) -> None:
    del model.graph.value_info[:]


def no_annotation(model: ModelProto) -> None:
    del model.graph.quantization_annotation[:]


def no_denotation(model: ModelProto) -> None:
    model.graph.input[0].type.denotation = ""


def no_tensor_doc(model: ModelProto) -> None:
    _tensor(model, "act_scale").doc_string = ""


def no_unknown_fields(model: ModelProto) -> None:
    model.DiscardUnknownFields()


def no_function(model: ModelProto) -> None:
    del model.functions[:]


FAULTS = (
    (BLOCKED, one_ulp, "different"),
    (BLOCKED, no_zero_point, "different"),
    (BLOCKED, swapped_codes, "different"),
    (BLOCKED, repeated_scale, "different"),
    (BLOCKED, wrong_shape, "invalid"),
    (BLOCKED, no_block_size, "invalid"),
    (BLOCKED, axis_out_of_range, "invalid"),
    (BLOCKED, later_attribute, "invalid"),
    (BLOCKED, wrong_import, "invalid"),
    (BLOCKED, low_ir, "invalid"),
    (BLOCKED, renamed_output, "different"),
    (METADATA, no_producer, "lost"),
    (METADATA, no_node_doc, "lost"),
    (METADATA, no_metadata, "lost"),
    (METADATA, no_value_info, "lost"),
    (METADATA, no_annotation, "lost"),
    (METADATA, no_denotation, "lost"),
    (METADATA, no_tensor_doc, "lost"),
    ("unknown-fields/int4@21", no_unknown_fields, "lost"),
    ("function-unused/int4@21", no_function, "lost"),
    ("function-plain/int4@21", no_function, "invalid"),
)


@pytest.mark.parametrize(("case", "fault", "word"), FAULTS, ids=lambda v: getattr(v, "__name__", None))
def test_a_fault_gets_its_verdict(case: str, fault: Callable[[ModelProto], None], word: str) -> None:
    subject = _subject(CASES[case])
    assert judge(subject, subject.model, CASES[case].opset).word == "exact"
    broken = ModelProto.FromString(subject.model.SerializeToString())
    fault(broken)
    assert judge(subject, broken, CASES[case].opset).word == word


def test_unjudged_models_do_not_pass_as_equal() -> None:
    subject = _subject(CASES[BLOCKED])
    subject.feeds = [{}, {"scale": np.zeros(7, np.float32)}]
    assert judge(subject, subject.model, 21).word == "unjudged"


def test_a_sign_of_zero_passes_only_where_it_is_claimed() -> None:
    case = next(c for c in suite() if c.id.startswith("all-codes/float8e4m3fn-0.1"))
    subject = _subject(case)
    positive = ModelProto.FromString(subject.model.SerializeToString())
    _replace(positive, "weight", lambda w: np.where(w.view(np.uint8) == 0x80, 0, w.view(np.uint8)).astype(np.uint8).view(w.dtype))
    assert judge(subject, positive, case.opset).word == "different"
    assert judge(subject, positive, case.opset, Exactness.VALUE_EQUAL).word == "value"


def test_a_bound_holds_where_it_is_claimed() -> None:
    subject = _subject(CASES[BLOCKED])
    near = ModelProto.FromString(subject.model.SerializeToString())
    one_ulp(near)
    assert judge(subject, near, 21, Exactness.ROUNDING, bound=Bound(ulps=2)).word == "within"
    assert judge(subject, near, 21, Exactness.ROUNDING, bound=Bound(ulps=0.25)).word == "different"


def test_float16_roundings_are_judged_by_the_evaluator() -> None:
    subject = _subject(CASES[NARROW])
    assert judge(subject, subject.model, 23).by == "evaluator"


def _pair(d: Draft) -> None:
    """An int8 pair per tensor with an odd zero point and a scale that is no power of two."""
    scale, zero = d.constant("scale", np.array(0.07, np.float32)), d.constant("zero", np.array(3, np.int8))
    d.output(d.dequantize(d.quantize(d.input("x", dtypes.FLOAT, (64, 64)), scale, zero), scale, zero), dtypes.FLOAT, (64, 64))


PAIR = Case("own/pair", "own", 13, "a pair", _pair)


def _decomposed(variant: str) -> ModelProto:
    """The pair below in plain operators, right or with one mistake."""
    model = ModelProto.FromString(PAIR.model().SerializeToString())
    scale, zero = (array_of(_tensor(model, n)) for n in ("scale", "zero"))
    constants = {"low": -128, "high": 127, "real_zero": int(zero.reshape(-1)[0]), "inverse": np.float32(1) / scale.reshape(-1)[0]}
    model.graph.initializer.extend(numpy_helper.from_array(np.array(v, np.float32), k) for k, v in constants.items())
    steps = {"rounded": ("Round", "divided"), "shifted": ("Add", "rounded", "real_zero"), "clipped": ("Clip", "shifted", "low", "high")}
    if variant == "adds before it rounds":
        steps = {"shifted": ("Add", "divided", "real_zero"), "rounded": ("Round", "shifted"), "clipped": ("Clip", "rounded", "low", "high")}
    if variant == "does not round":
        steps = {"shifted": ("Add", "divided", "real_zero"), "clipped": ("Clip", "shifted", "low", "high")}
    if variant == "does not clip":
        steps["clipped"] = ("Identity", "shifted")
    if variant == "clips one lower":
        steps["clipped"] = ("Clip", "shifted", "low", "less")
        model.graph.initializer.append(numpy_helper.from_array(np.array(126, np.float32), "less"))
    steps = {"divided": ("Mul", "x", "inverse") if variant == "multiplies by the reciprocal" else ("Div", "x", "scale"), **steps}
    nodes = [helper.make_node(op, names, [out]) for out, (op, *names) in steps.items()]
    nodes.append(helper.make_node("Cast", ["clipped"], ["codes"], name="codes_node", to=TensorProto.INT8))
    rest = [n for n in model.graph.node if n.op_type != "QuantizeLinear"]
    del model.graph.node[:]
    model.graph.node.extend([*nodes, *rest])
    return model


@pytest.mark.parametrize(
    ("variant", "word"),
    [
        ("right", "exact"),
        ("adds before it rounds", "different"),
        ("does not round", "different"),
        ("does not clip", "different"),
        ("clips one lower", "different"),
        ("multiplies by the reciprocal", "different"),
    ],
)
def test_inputs_are_hard_enough_for_a_decomposed_quantize(variant: str, word: str) -> None:
    verdict = judge(_subject(PAIR), _decomposed(variant), PAIR.opset)
    assert verdict.word == word, str(verdict)


@pytest.mark.parametrize("form", sorted({c.form for c in suite()}))
def test_a_form_left_alone_is_legal_and_exact(form: str) -> None:
    cases = [c for c in suite() if c.form == form]
    for case in cases[:: max(1, len(cases) // 6)]:
        verdict = judge(_subject(case), case.model(), case.opset)
        assert verdict.word == "exact", f"{case.id}: {verdict}"
