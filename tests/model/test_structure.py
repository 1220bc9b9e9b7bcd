"""Broken wiring is named; odd wiring that ONNX Runtime runs passes. The verdicts of both are compared."""

from __future__ import annotations

import contextlib

import numpy as np
import onnxruntime
import pytest
from google.protobuf.message import DecodeError
from onnx import ModelProto, TensorProto, helper, numpy_helper

from qdqtool.errors import Unreadable
from qdqtool.model import load
from qdqtool.model.graph import View
from qdqtool.model.structure import faults, order, premature, require_sound
from tests.linting.damage import damaged

node = helper.make_node


def value(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])


def constant(name, content=1.0):
    return numpy_helper.from_array(np.full(2, content, np.float32), name)


def model(nodes, constants=(), inputs=("x",), outputs=("y",)):
    graph = helper.make_graph(list(nodes), "g", [value(n) for n in inputs], [value(n) for n in outputs], initializer=list(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def branch(output, *nodes):
    return helper.make_graph(list(nodes), "body", [], [value(output)])


def choice(then, otherwise):
    return node("If", ["k"], ["y"], then_branch=then, else_branch=otherwise, name="if")


KEY = helper.make_tensor("k", TensorProto.BOOL, [], [True])
ABS = branch("z", node("Abs", ["x"], ["z"]))

SOUND = {
    "plain": model([node("Add", ["x", "c"], ["y"])], [constant("c")]),
    "unsorted": model([node("Neg", ["t"], ["y"]), node("Abs", ["x"], ["t"])]),
    "input with default": model([node("Add", ["x", "c"], ["y"])], [constant("c")], inputs=("x", "c")),
    "output twice": model([node("Neg", ["x"], ["y"])], outputs=("y", "y")),
    "output is input": model([node("Neg", ["x"], ["y"])], outputs=("y", "x")),
    "output is constant": model([node("Neg", ["x"], ["y"])], [constant("c")], outputs=("y", "c")),
    "unnamed constants": model([node("Neg", ["x"], ["y"])], [constant(""), constant("")]),
    "one name in two branches": model([choice(ABS, ABS)], [KEY]),
    "inner name defined later outside": model([choice(branch("t", node("Abs", ["x"], ["t"])), ABS), node("Neg", ["x"], ["t"])], [KEY]),
    "branch reads a later node": model([choice(branch("z", node("Abs", ["t"], ["z"])), ABS), node("Neg", ["x"], ["t"])], [KEY]),
    "absent operand": model([node("Clip", ["x", "", "m"], ["y"])], [numpy_helper.from_array(np.float32(1), "m")]),
}
BROKEN = {
    "output of two nodes": (model([node("Neg", ["x"], ["y"]), node("Abs", ["x"], ["y"])]), "defined-twice", "'y' is defined 2 times"),
    "node and constant": (model([node("Neg", ["x"], ["c"]), node("Add", ["x", "c"], ["y"])], [constant("c")]), "defined-twice", "'c'"),
    "node and input": (model([node("Neg", ["x"], ["x"]), node("Abs", ["x"], ["y"])]), "defined-twice", "'x'"),
    "input twice": (model([node("Neg", ["x"], ["y"])], inputs=("x", "x")), "defined-twice", "'x'"),
    "cycle": (model([node("Add", ["x", "b"], ["a"], name="n"), node("Neg", ["a"], ["b"]), node("Neg", ["a"], ["y"])]), "cycle", "n, Neg"),
    "undefined operand": (model([node("Add", ["x", "no"], ["y"], name="n")]), "undefined-value", "reads 'no'"),
    "undefined output": (model([node("Neg", ["x"], ["t"])]), "undefined-value", "output 'y'"),
    "undefined in a branch": (model([choice(branch("z", node("Abs", ["no"], ["z"])), ABS)], [KEY]), "undefined-value", "reads 'no'"),
    "cycle through a branch": (
        model([choice(branch("z", node("Abs", ["t"], ["z"])), ABS), node("Neg", ["y"], ["t"])], [KEY]),
        "cycle",
        "if",
    ),
}


def runs(proto):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("name", SOUND)
def test_sound_models_pass_here_and_in_onnx_runtime(name):
    runs(SOUND[name])
    require_sound(SOUND[name])


@pytest.mark.parametrize("name", BROKEN)
def test_broken_models_are_named_and_onnx_runtime_refuses_them(name):
    proto, code, words = BROKEN[name]
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        runs(proto)
    with pytest.raises(Unreadable, match=words) as caught:
        require_sound(proto)
    assert caught.value.code == code
    assert caught.value.where.startswith("main")


@pytest.mark.parametrize("inputs", [("x",), ("x", "c")])
def test_an_initializer_twice_is_a_fault(inputs):
    """ONNX Runtime 1.32 takes the last; no exporter known to us writes it, and which one was meant is a guess."""
    proto = model([node("Add", ["x", "c"], ["y"])], [constant("c"), constant("c", 5)], inputs=inputs)
    assert [fault.code for fault in faults(proto)] == ["defined-twice"]


def test_faults_in_functions_and_all_of_many():
    proto = model([node("Neg", ["x"], ["y"])])
    proto.functions.append(helper.make_function("f", "F", ["a", "a"], ["b"], [node("Neg", ["q"], ["r"])], [helper.make_opsetid("", 17)]))
    assert {fault.where for fault in faults(proto)} == {"function F", "function F / Neg(r)"}
    many = model([node("Sum", ["x", *(f"u{i}" for i in range(6))], ["y"])])
    with pytest.raises(Unreadable, match="and 3 more"):
        require_sound(many)


def test_functions_that_call_themselves():
    def calling(name, callee):
        return helper.make_function("f", name, ["x"], ["y"], [node(callee, ["x"], ["y"], domain="f")], [helper.make_opsetid("f", 1)])

    proto = model([node("F", ["x"], ["y"], domain="f")])
    proto.opset_import.add(domain="f", version=1)
    proto.functions.extend([calling("F", "G"), calling("G", "F")])
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        runs(proto)
    with pytest.raises(Unreadable, match="each other: F, G") as caught:
        require_sound(proto)
    assert caught.value.code == "recursive-function"


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ([("x", "a"), ("a", "b"), ("b", "c")], [0, 1, 2]),
        ([("a", "b"), ("x", "a"), ("b", "c")], [1, 0, 2]),
        ([("x", "a"), ("c", "d"), ("x", "b"), ("b", "c")], [0, 2, 3, 1]),
        ([("x", "a"), ("x", "b"), ("", "c")], [0, 1, 2]),
    ],
)
def test_order(edges, expected):
    assert order([node("Neg", [read], [written]) for read, written in edges]) == expected


def test_order_sees_what_branches_read():
    assert order(SOUND["branch reads a later node"].graph.node) == [1, 0]
    assert order(SOUND["inner name defined later outside"].graph.node) == [0, 1]


def test_order_refuses_cycles():
    with pytest.raises(Unreadable, match="wait for each other"):
        order(BROKEN["cycle"][0].graph.node)


def test_the_corpus_is_sound_but_for_the_one_model_that_onnx_runtime_refuses_too(corpus):
    broken, unsorted = set(), set()
    for path in corpus.rglob("*.onnx"):
        proto = load.load(path).proto
        if faults(proto):
            broken.add(path.name)
        elif order(proto.graph.node) != list(range(len(proto.graph.node))):
            unsorted.add(path.name)
    assert broken == {"llama_d21_oq_wo_u4_g32.onnx"}
    assert unsorted == {
        "attention_past_state.u8s8.onnx",
        "constant_folding_dequantizelinear.onnx",
        "resnet_l17_quark_xint8.onnx",
        "silero_dyn_s8.onnx",
    }


@pytest.mark.parametrize("name", [*SOUND, *BROKEN])
def test_what_is_tidy_needs_no_second_look(name):
    proto = SOUND[name] if name in SOUND else BROKEN[name][0]
    if View(proto).tidy:
        assert faults(proto) == []
        assert premature(proto.graph.node) == []


def test_most_models_are_tidy():
    assert [View(SOUND[name]).tidy for name in ("plain", "unsorted", "input with default", "output twice")] == [True, False, True, True]


@pytest.mark.parametrize("start", range(0, 600, 100))
def test_no_damaged_model_is_taken_for_tidy(fixtures, start):
    for seed in range(start, start + 100):
        data = damaged((fixtures / "conv_13.onnx").read_bytes(), seed)
        with contextlib.suppress(DecodeError, TypeError):
            proto = ModelProto.FromString(data)
            if View(proto).tidy:
                assert faults(proto) == []
                assert premature(proto.graph.node) == []
