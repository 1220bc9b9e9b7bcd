"""Small models and made-up rules for the machinery around rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

from onnx import ModelProto, parser

from qdqtool.findings import Problem
from qdqtool.linting.subject import Subject

PLAIN = """<ir_version: 8, opset_import: ["" : 13]>
g (float[2, 4] x) => (float[2, 4] y) <float s = {0.5}, uint8 z = {7}> {
    [quantize] q = QuantizeLinear(x, s, z)
    [dequantize] y = DequantizeLinear(q, s, z)
}"""

NESTED = """<ir_version: 8, opset_import: ["" : 13, "own" : 1]>
g (float[2, 4] x, bool c) => (float[2, 4] y) <float s = {0.5}> {
    [branch] b = If(c) <
        then_branch = t () => (float[2, 4] tq) { [inner] tq = Identity(x) },
        else_branch = e () => (float[2, 4] eq) { [inner] eq = Abs(x) }
    >
    [call] y = own.F(b)
}
<domain: "own", opset_import: ["" : 13]>
F (a) => (r) { [body] r = Neg(a) }"""


def plain() -> ModelProto:
    """A Q/DQ pair."""
    return parser.parse_model(PLAIN)


def nested() -> ModelProto:
    """An If and a function."""
    return parser.parse_model(NESTED)


def zero_scale(model: ModelProto) -> ModelProto:
    """The scale of `plain` made 0, which is QDQ201 at the first node."""
    model.graph.initializer[0].float_data[0] = 0
    return model


def shapes_differ() -> ModelProto:
    """A zero point of shape [1] beside a scale without axes: QDQ135, with a safe fix."""
    model = plain()
    del model.graph.initializer[1].dims[:]
    model.graph.initializer[1].dims.append(1)
    return model


def rule(code: str, check: Callable[[Subject], Iterable[Problem]], *, severity: str = "error", stage: str = "graph") -> Any:
    """A rule module that exists in memory only; its name follows from the code."""
    return SimpleNamespace(
        CODE=code,
        SEVERITY=severity,
        STAGE=stage,
        check=check,
        __name__=f"qdqtool.rules.made_up.rule_{code.lower()}",
        __doc__=f"Rule {code} is made up.\n\n**Why it matters**: it does not.",
    )
