from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from qdqtool import dtypes
from qdqtool.plan.lift import with_carrier
from tests.plan.graphs import INT4, INT8, TENTH, model, planned

HALF = np.float16(0.1)
INT16 = INT8.astype(np.int16)
BLOCKS = np.ones((2, 2), np.float32)
ROWS = np.float32([0.5, 1])
ZERO = np.int8(3)

Q, DQ = "g (float[2,8] x) => (y) { y = QuantizeLinear%s(x, s, z) }", "g (float[2,8] x) => (y) { y = DequantizeLinear%s(w, s) }"
Q16, QI = Q.replace("float[", "float16["), Q.replace("float[", "int32[")
ALONE: dict[str, tuple[str, int, int, bool, dict[str, Any]]] = {
    "float32 upwards": (Q % "", 13, 28, True, {"s": TENTH, "z": ZERO}),
    "float32 downwards": (Q % "", 28, 10, True, {"s": TENTH, "z": ZERO}),
    "no such operator": (Q % "", 13, 9, False, {"s": TENTH, "z": ZERO}),
    "float16 within 19 to 22": (Q16 % "", 19, 22, True, {"s": HALF, "z": ZERO}),
    "float16 across 22 and 23": (Q16 % "", 22, 23, False, {"s": HALF, "z": ZERO}),
    "float16 with a precision across 22 and 23": (Q16 % "<precision: int = 1>", 23, 22, False, {"s": HALF, "z": ZERO}),
    "float16 to 13": (Q16 % "", 19, 13, False, {"s": HALF, "z": ZERO}),
    "float16 dequantize across 22 and 23": (DQ % "", 22, 23, True, {"w": INT8, "s": HALF}),
    "int32 x from 13 to 19": (QI % "", 13, 19, False, {"s": TENTH, "z": ZERO}),
    "int32 x from 13 to 23": (QI % "", 13, 23, True, {"s": TENTH, "z": ZERO}),
    "an attribute the target lacks, at its default": (Q % "<saturate: int = 1>", 19, 13, False, {"s": TENTH, "z": ZERO}),
    "an attribute the target has": (Q % "<saturate: int = 1>", 19, 23, True, {"s": TENTH, "z": ZERO}),
    "vector to 10": (DQ % "<axis: int = 0>", 13, 10, False, {"w": INT8, "s": ROWS}),
    "vector to 19": (DQ % "<axis: int = 0>", 13, 19, True, {"w": INT8, "s": ROWS}),
    "vector at 10, as runtimes read it": (DQ % "", 10, 10, True, {"w": INT8, "s": np.ones(8, np.float32)}),
    "blocks upwards": (DQ % "<block_size: int = 4>", 21, 25, True, {"w": INT4, "s": BLOCKS}),
    "blocks to 19": (DQ % "<block_size: int = 4>", 21, 19, False, {"w": INT8, "s": BLOCKS}),
    "int4 to 19": (DQ % "", 21, 19, False, {"w": INT4, "s": TENTH}),
    "shapes that mean nothing": (DQ % "", 13, 19, True, {"w": INT8, "s": np.ones(5, np.float32)}),
    "a type that its own version lacks, where it stands": (DQ % "", 13, 13, True, {"w": INT16, "s": TENTH}),
    "a type that its own version lacks, moved": (DQ % "", 13, 17, False, {"w": INT16, "s": TENTH}),
    "a type that its own version lacks, where it is legal": (DQ % "", 13, 21, True, {"w": INT16, "s": TENTH}),
    "an axis at 11, where it stands": (DQ % "<axis: int = 0>", 11, 11, True, {"w": INT8, "s": ROWS}),
    "an axis at 11, moved": (DQ % "<axis: int = 0>", 11, 12, False, {"w": INT8, "s": ROWS}),
    "an axis at 11, where it is legal": (DQ % "<axis: int = 0>", 11, 13, True, {"w": INT8, "s": ROWS}),
    "vector from 10 to 11": (DQ % "", 10, 11, True, {"w": INT8, "s": np.ones(8, np.float32)}),
    "com.microsoft anywhere": (DQ.replace("Deq", "com.microsoft.Deq") % "", 13, 7, True, {"w": INT8, "s": TENTH}),
}


def lifted(text: str, source: int, target: int, constants: dict[str, Any], **options: Any) -> Any:
    builder = planned(model(text, source, domains={"com.microsoft": 1}, **constants), target, **options)
    (found,) = builder.lifted.values()
    return found


@pytest.mark.parametrize(("text", "source", "target", "alone", "constants"), ALONE.values(), ids=ALONE.keys())
def test_a_node_stays_where_it_means_the_same(text: str, source: int, target: int, alone: bool, constants: dict[str, Any]) -> None:
    assert lifted(text, source, target, constants).alone is alone


@pytest.mark.parametrize(
    ("text", "dialect", "alone"),
    [
        (DQ % "", "com.microsoft", False),
        (DQ % "", "ai.onnx", True),
        (DQ.replace("Deq", "com.microsoft.Deq") % "", "ai.onnx", False),
        (DQ.replace("Deq", "com.microsoft.Deq") % "", "com.microsoft", True),
    ],
)
def test_a_dialect_that_was_asked_for(text: str, dialect: str, alone: bool) -> None:
    assert lifted(text, 21, 21, {"w": INT8, "s": TENTH}, dialect=dialect).alone is alone


def test_a_blocked_node_stays_where_the_dialect_asked_for_cannot_say_it() -> None:
    assert lifted(DQ % "<block_size: int = 4>", 21, 21, {"w": INT4, "s": BLOCKS}, dialect="com.microsoft").alone


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (Q % "", "float32 to int8, per tensor, float32 scale"),
        (DQ % "<axis: int = -2, block_size: int = 2>", "int4 to float32, blocks of 2 along axis 0, float32 scale"),
    ],
)
def test_a_step_knows_its_meaning(text: str, expected: str) -> None:
    constants = {"s": TENTH, "z": ZERO} if "Quant" in text else {"w": INT4, "s": np.ones((1, 8), np.float32)}
    assert str(lifted(text, 21, 21, constants).step.meaning) == expected


def test_nodes_that_are_no_steps() -> None:
    text = "g (float[2] x) => (y, v) { y = trt.QuantizeLinear(x, s) v = Abs(x) }"
    assert not planned(model(text, domains={"trt": 1}, s=TENTH), 13).lifted


def test_carriers_change_one_side() -> None:
    down, up = lifted(DQ % "", 21, 13, {"w": INT4, "s": TENTH}), lifted(Q % "", 21, 13, {"s": TENTH, "z": ZERO})
    assert (with_carrier(down, dtypes.INT8).x.dtype, with_carrier(down, dtypes.INT8).dtype) == (dtypes.INT8, dtypes.FLOAT)
    assert (with_carrier(up, dtypes.FLOAT).x.dtype, with_carrier(up, dtypes.FLOAT).dtype) == (dtypes.FLOAT, dtypes.FLOAT)
    assert with_carrier(down, dtypes.INT8).meaning == down.step.meaning
