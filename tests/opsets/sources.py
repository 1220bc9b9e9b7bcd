"""Nodes for the census that onnx's own node tests, which are at the newest versions, do not give."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from onnx import GraphProto, TensorProto, helper

from .adapting import Case, case

SEEDED = ("RandomNormal", "RandomUniform")
LOOPS = (7, 11, 13, 16, 19, 21, 23, 24, 25)
SCANS = (9, 11, 16, 19, 21, 23, 24, 25)


def data(*shape: int, low: float = -3, high: float = 3) -> Any:
    return np.random.default_rng(list(shape)).uniform(low, high, shape).astype(np.float32)


def ints(*values: int) -> Any:
    return np.array(values, np.int64)


def body(*, loop: bool) -> GraphProto:
    """Adds up: for Loop with its iteration and condition, for Scan with an element."""

    def value(name: str, kind: int, *shape: int) -> Any:
        return helper.make_tensor_value_info(name, kind, shape)

    state, result = value("state", TensorProto.FLOAT, 2), value("sum", TensorProto.FLOAT, 2)
    add = helper.make_node("Add", ["state", "state" if loop else "element"], ["sum"])
    copy = helper.make_node("Identity", ["sum"], ["each"])
    each = value("each", TensorProto.FLOAT, 2)
    if not loop:
        return helper.make_graph([add, copy], "body", [state, value("element", TensorProto.FLOAT, 2)], [result, each])
    inputs = [value("number", TensorProto.INT64), value("go", TensorProto.BOOL), state]
    again = helper.make_node("Identity", ["go"], ["again"])
    return helper.make_graph([add, copy, again], "body", inputs, [value("again", TensorProto.BOOL), result, each])


@cache
def cases() -> tuple[Case, ...]:
    image, rois = data(1, 2, 6, 6), np.array([[0, 0, 0, 4, 4]], np.float32)
    scales = np.array([1, 1, 2, 2], np.float32)
    asymmetric = {"coordinate_transformation_mode": "asymmetric", "mode": "linear"}
    return (
        *(case("GlobalLpPool", v, image) for v in (7, 22)),
        *(case("MaxRoiPool", v, image, rois, pooled_shape=[2, 2]) for v in (7, 22)),
        *(case(op, v, shape=[2, 3], seed=1.0) for op in SEEDED for v in (7, 22)),
        *(case(f"{op}Like", v, image, seed=1.0) for op in SEEDED for v in (7, 22)),
        *(case("Multinomial", v, data(2, 5), sample_size=4, seed=1.0) for v in (7, 22)),
        *(case("Bernoulli", v, data(2, 5, low=0, high=1), seed=1.0) for v in (15, 22)),
        case("GroupNormalization", 18, image, data(1), data(1), num_groups=1),
        *(case("Resize", v, image, data(0), scales, constant=(1, 2), **asymmetric) for v in (11, 13, 18, 19)),
        *(case("Resize", 10, image, np.array(s, np.float32), constant=(1,), mode="nearest") for s in ([1, 1, 2, 2], [1, 1, 1.7, 0.4])),
        *(case("Loop", v, ints(3)[0], np.bool_(True), data(2), outputs=2, body=body(loop=True)) for v in LOOPS),
        *(case("Scan", v, data(2), data(4, 2), outputs=2, body=body(loop=False), num_scan_inputs=1) for v in SCANS),
        case("Scan", 8, None, data(1, 2), data(1, 4, 2), outputs=2, body=body(loop=False), num_scan_inputs=1),
        *(case("OptionalHasElement", v, image) for v in (18, 28)),
        case("SplitToSequence", 11, data(4, 2), ints(2, 2)),
        case("BatchNormalization", 9, image, *(data(2, low=0.5) for _ in range(4)), outputs=["y", "mean", "var", "", ""]),
    )
