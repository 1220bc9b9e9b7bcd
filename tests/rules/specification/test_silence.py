"""Odd models that are right, or of which too little is known: no rule of the specification says anything."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto

from qdqtool import dtypes as t
from qdqtool.linting.engine import linted
from qdqtool.linting.subject import Subject
from qdqtool.model.load import Loaded
from qdqtool.rules import all_rules
from qdqtool.targets import profile
from tests.rules.case import attribute, changed, codes, constant, ir, model, opset, port, scales, zeros
from tests.rules.specification.cases_files import BRANCH, FUNCTION

SPECIFICATION = [rule for code, rule in all_rules().items() if code.startswith("QDQ1")]

PAIR = model("g (float[4,6] x) => (float[4,6] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }", 21, s=0.5, z=zeros(t.INT8))
RUNTIME = model(
    "g (float[n,m] x, float[k] s, int8[k] z) => (float[n,m] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }", 13
)
UNKNOWN = model(
    "g (float[n] a) => (float y) { b = somewhere.Op(a) y = DequantizeLinear <axis = 3> (b, s) }", imports={"somewhere": 1}, s=scales(5)
)
BLOCKS = model(
    "g () => (float[4,7] y) { y = DequantizeLinear <axis = 1, block_size = 3> (c, s) }", 21, c=codes(t.UINT4, 4, 7), s=scales(4, 3)
)
ROW = model("g () => (float[6] y) { y = DequantizeLinear <axis = 0, block_size = 4> (c, s) }", 21, c=codes(t.INT8, 6), s=scales(2))
E8M0 = model(
    "g () => (float[4,6] y) { y = DequantizeLinear <axis = 1, block_size = 3, output_dtype = 1> (c, s) }",
    24,
    c=codes(t.FLOAT8E4M3FN, 4, 6),
    s=np.full((4, 2), 2.0).astype(t.FLOAT8E8M0.numpy),
)
MIXED = model(
    "g (float16[4,6] x) => (float[4,6] y) { q = QuantizeLinear <precision = 10> (x, s, z) y = DequantizeLinear(q, s, z) }",
    23,
    s=0.5,
    z=zeros(t.INT8),
)
GOOD = {
    "a pair": PAIR,
    "a default axis that does not exist, one scale": model(
        "g (float[6] x) => (uint8[6] q) { q = QuantizeLinear(x, s, z) }", 13, s=scales(1), z=zeros(t.UINT8, 1)
    ),
    "an axis that does not exist, one scale": changed(PAIR, attribute("q", axis=7)),
    "rank 0": model("g (float x) => (uint8 q) { q = QuantizeLinear(x, s, z) }", 13, s=0.5, z=zeros(t.UINT8)),
    "unknown lengths": RUNTIME,
    "unknown rank": changed(RUNTIME, port("x", t.FLOAT, None), port("s", t.FLOAT, None), port("z", t.INT8, None), port("y", t.FLOAT, None)),
    "codes of an unknown operator": changed(UNKNOWN, port("y", t.FLOAT, None)),
    "a last block that is short": BLOCKS,
    "a block longer than its axis": changed(BLOCKS, attribute("y", block_size=100), constant(s=scales(4, 1))),
    "block_size 0": changed(PAIR, attribute("y", block_size=0)),
    "blocks of a vector": ROW,
    "float8e8m0 with a type": E8M0,
    "division in float16": MIXED,
    "output_dtype that repeats the zero point": changed(PAIR, attribute("q", output_dtype=3)),
    "axis from the end": changed(PAIR, attribute("y", axis=-2), constant(s=scales(4), z=zeros(t.INT8, 4)), attribute("q", axis=0)),
    "a branch": BRANCH,
    "a function": FUNCTION,
    "a higher ir_version": changed(PAIR, ir(13)),
    "a higher opset": changed(PAIR, opset(27)),
    "nothing": model("g (float[4] x) => (float[4] y) { y = Identity(x) }", 13),
}


def found(proto: ModelProto) -> list[str]:
    subject = Subject(Loaded(proto, None, Path()), profile("ort"))
    return [f"{f.code} {f.at}: {f.message}" for f in linted(subject, SPECIFICATION).findings]


@pytest.mark.parametrize("name", GOOD)
def test_nothing_is_said(name: str) -> None:
    assert found(GOOD[name]) == []
