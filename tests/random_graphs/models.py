"""Whole models around a random graph: in the main graph, in the branches of an If, in a function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from onnx import ModelProto, NodeProto, TensorProto, helper

from tests.random_graphs.body import REALS, Body, Value
from tests.random_graphs.steps import CODES, STILL, relu, step

OPSET = 21
SHAPES = ((4,), (2, 4), (4, 2), (2, 2, 4), (1, 4, 2))


@st.composite
def models(draw: DrawFn) -> ModelProto:
    """A model with inputs `x` and `x16`, whose body stands in the graph, in the branches of an If, or in a function."""
    body = Body(draw, [Value("x", REALS[0], (2, 4)), Value("x16", REALS[1], (4, 2))])
    for _ in range(body.number(1, 4)):
        body.constant(body.array(body.pick((*CODES, *REALS, np.dtype(np.int32))), body.pick(SHAPES)), keep=True)
    relu(body, body.values[0])
    for _ in range(body.number(4, 24)):
        step(body)
    home = body.pick(("graph", "graph", "if", "function"))
    still = any(v.dtype in STILL for v in body.values)  # ONNX Runtime takes none of these through a call or an If
    return assembled(body, "graph" if still and home == "if" else home, (still and home == "function") or body.number(0, 1) == 1)


def assembled(body: Body, home: str, as_nodes: bool) -> ModelProto:
    used = {name for node in body.nodes for name in node.input}
    made = {output for node in body.nodes for output in node.output}
    ends = [v for v in body.values if v.name in made and (v.name not in used or body.number(0, 9) == 0)]
    stored = body.constants
    if as_nodes:
        body.nodes[:0] = [helper.make_node("Constant", [], [t.name], value=t) for t in stored]
        stored = []
    nodes, functions = body.nodes, []
    if home == "if":
        nodes = [
            helper.make_node(
                "If", ["flag"], [v.name for v in ends], then_branch=branch(body, ends, "_a"), else_branch=branch(body, ends, "_b")
            )
        ]
    elif home == "function":
        arguments = ["x", "x16", *(t.name for t in stored)]
        functions = [helper.make_function("own", "body", arguments, [v.name for v in ends], nodes, [helper.make_opsetid("", OPSET)])]
        nodes = [helper.make_node("body", arguments, [v.name for v in ends], domain="own")]
    inputs = [described(v) for v in body.values[:2]] + [helper.make_tensor_value_info("flag", TensorProto.BOOL, [])]
    graph = helper.make_graph(nodes, "g", inputs, [described(v) for v in ends], stored)
    imports = [helper.make_opsetid("", OPSET), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10, functions=functions)


def branch(body: Body, ends: Sequence[Value], suffix: str) -> Any:
    """The body under other names; constants stay outside if they are initializers."""
    made = {output for node in body.nodes for output in node.output}

    def renamed(names: Sequence[str]) -> list[str]:
        return [n + suffix if n in made else n for n in names]

    nodes = []
    for node in body.nodes:
        copy = NodeProto()
        copy.CopyFrom(node)
        del copy.input[:], copy.output[:]
        copy.input.extend(renamed(node.input))
        copy.output.extend(renamed(node.output))
        nodes.append(copy)
    return helper.make_graph(nodes, "branch", [], [described(replace(v, name=v.name + suffix)) for v in ends])


def described(value: Value) -> Any:
    return helper.make_tensor_value_info(value.name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
