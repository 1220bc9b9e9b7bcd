"""Sound models that a wheel's graph optimizations break, so that they do not load with default options.

A QuantizeLinear has ``output_dtype`` beside its zero point; or a quantized value of some type feeds some operator.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper

from qdqtool import dtypes
from qdqtool.model import tensors

OPSET = {"int8": 21, "uint8": 21, "int16": 21, "float8e4m3fn": 19, "int32": 13}
"""Storage types, with the first opset that may break them. int32 holds the codes of int8, since nothing quantizes to int32."""
MOVING: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "Reshape": (("shape",), {}),
    "Transpose": ((), {}),
    "Squeeze": ((), {}),
    "Unsqueeze": (("zero",), {}),
    "Flatten": ((), {}),
    "MaxPool": ((), {"kernel_shape": [2, 2]}),
    "Slice": (("zero", "one"), {}),
    "Gather": (("zero",), {}),
    "Identity": ((), {}),
    "Concat": ((), {"axis": 0}),
    "Sigmoid": ((), {}),
    "Softmax": ((), {}),
    "AveragePool": ((), {"kernel_shape": [2, 2]}),
    "Add": (("d",), {}),
    "Mul": (("d",), {}),
}
WEIGHTED = {"MatMul": [1, 2, 4, 4], "Conv": [2, 2, 1, 1], "Gemm": [4, 4]}
"""Operators with a second, constant quantized operand, and its shape."""
PLAIN = "Sigmoid"


def jobs() -> Iterator[dict[str, Any]]:
    """Each operator behind each type, its result quantized or not, and one with ``output_dtype``."""
    for storage in OPSET:
        for op in (*MOVING, *WEIGHTED):
            for ends in ("float", "codes"):
                yield _job(storage, op, ends, doubled=False)
    yield _job("int8", PLAIN, "float", doubled=True)


def _job(storage: str, op: str, ends: str, *, doubled: bool) -> dict[str, Any]:
    nodes = [*_pair("x", "d", storage, doubled)]
    if op in WEIGHTED:
        nodes += [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["v"]), helper.make_node(op, ["d", "v"], ["m"])]
    else:
        more, attributes = MOVING[op]
        nodes.append(helper.make_node(op, ["d", *more], ["m"], **attributes))
    nodes += [*_pair("m", "e", storage, doubled)] if ends == "codes" else [helper.make_node("Identity", ["m"], ["e"])]
    nodes.append(helper.make_node("Cos", ["e"], ["y"]))
    shape = [4, 4] if op == "Gemm" else [1, 2, 4, 4]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in (("x", shape), ("y", None))]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], _constants(storage, op))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET[storage])], ir_version=9 if storage != "int32" else 7)
    text = base64.b64encode(model.SerializeToString()).decode()
    return {"id": f"fault:{storage}:{op}:{ends}:{int(doubled)}", "only_load": True, "optimized": True, "model": text}


def _pair(x: str, y: str, storage: str, doubled: bool) -> Iterator[NodeProto]:
    codes = "int8" if storage == "int32" else storage
    named = {"output_dtype": dtypes.of_name(codes).code} if doubled else {}
    yield helper.make_node("QuantizeLinear", [x, "s", "z"], [f"{y}_q"], **named)
    if storage == "int32":
        yield helper.make_node("Cast", [f"{y}_q"], [f"{y}_c"], to=TensorProto.INT32)
    yield helper.make_node("DequantizeLinear", [f"{y}_c", "s"] if storage == "int32" else [f"{y}_q", "s", "z"], [y])


def _constants(storage: str, op: str) -> list[TensorProto]:
    codes = dtypes.of_name("int8" if storage == "int32" else storage).numpy
    arrays = {
        "s": np.float32(0.1),
        "z": np.zeros((), codes),
        "w": np.ones(WEIGHTED.get(op, []), codes),
        "shape": np.array([32]),
        "zero": np.array([0]),
        "one": np.array([1]),
    }
    return [tensors.make(name, np.asarray(array)) for name, array in arrays.items()]


def found(answers: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Whether ``output_dtype`` beside a zero point breaks, and the operators that break behind each type, with the first opset.

    A type or opset that the wheel does not know, so that nothing loads, is no fault of this kind.
    """
    breaking: dict[str, dict[str, Any]] = {}
    for storage in OPSET:
        mine = {key: said for key, said in answers.items() if key.startswith(f"fault:{storage}:") and key.endswith(":0")}
        broken = {key.split(":")[2] for key, said in mine.items() if said["error"]}
        if any(not said["error"] for said in mine.values()) and broken:
            breaking[storage] = {"opset": OPSET[storage], "operators": " ".join(sorted(broken))}
    doubled = answers[f"fault:int8:{PLAIN}:float:1"]["error"]
    return {"doubled": "output_dtype" in doubled, "behind": breaking}
