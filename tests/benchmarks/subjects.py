"""Models for whole tools, each built by ``python -m tests.benchmarks.subjects NAME FOLDER``; the builder's own memory is nobody's."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import NodeProto, TensorProto
from onnx.external_data_helper import set_external_data
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info
from onnx.numpy_helper import from_array

CHANNELS, BLOCK = 224, 32
FLOAT, FLOAT16 = TensorProto.FLOAT, TensorProto.FLOAT16


def write(path: Path, nodes: Sequence[NodeProto], weights: Sequence[TensorProto], shape: Sequence[int], kind: int = FLOAT) -> None:
    """A model from `x` to `y`, both of one shape."""
    ends = [make_tensor_value_info(name, kind, shape) for name in "xy"]
    graph = make_graph(nodes, "subject", ends[:1], ends[1:], weights)
    path.write_bytes(make_model(graph, opset_imports=[make_opsetid("", 21)], ir_version=10).SerializeToString())


def cnn(path: Path, convolutions: int = 50) -> None:
    """Convolutions with int8 weights by channel, int32 bias, and quantized activations: 21 MiB."""
    rng = np.random.default_rng(1)
    nodes: list[NodeProto] = []
    weights = [from_array(np.float32(0.02), "s"), from_array(np.int8(0), "z")]
    for i in range(convolutions):
        scale = rng.uniform(1e-3, 2e-3, CHANNELS).astype(np.float32)
        weights += [
            from_array(rng.integers(-128, 128, (CHANNELS, CHANNELS, 3, 3), np.int8), f"w{i}"),
            from_array(rng.integers(-1000, 1000, CHANNELS, np.int32), f"b{i}"),
            from_array(scale, f"ws{i}"),
            from_array(scale * np.float32(0.02), f"bs{i}"),
            from_array(np.zeros(CHANNELS, np.int8), f"wz{i}"),
        ]
        nodes += [
            make_node("QuantizeLinear", ["x" if i == 0 else f"r{i - 1}", "s", "z"], [f"q{i}"]),
            make_node("DequantizeLinear", [f"q{i}", "s", "z"], [f"a{i}"]),
            make_node("DequantizeLinear", [f"w{i}", f"ws{i}", f"wz{i}"], [f"wd{i}"], axis=0),
            make_node("DequantizeLinear", [f"b{i}", f"bs{i}"], [f"bd{i}"], axis=0),
            make_node("Conv", [f"a{i}", f"wd{i}", f"bd{i}"], [f"c{i}"], pads=[1, 1, 1, 1]),
            make_node("Relu", [f"c{i}"], ["y" if i == convolutions - 1 else f"r{i}"]),
        ]
    write(path, nodes, weights, [1, CHANNELS, 7, 7])


def many(path: Path, layers: int) -> None:
    """A deep chain, four nodes a layer, one of them a DequantizeLinear of 16 x 16 codes, by channel."""
    rng = np.random.default_rng(2)
    names = ["x", *(f"r{i}" for i in range(layers - 1)), "y"]
    nodes, weights = list[NodeProto](), list[TensorProto]()
    for i, (above, below) in enumerate(pairwise(names)):
        weights += [
            from_array(rng.integers(-128, 128, (16, 16), np.int8), f"w{i}"),
            from_array(rng.uniform(1e-3, 2e-3, 16).astype(np.float32), f"s{i}"),
            from_array(np.zeros(16, np.int8), f"z{i}"),
            from_array(rng.normal(0, 0.1, 16).astype(np.float32), f"b{i}"),
        ]
        nodes += [
            make_node("DequantizeLinear", [f"w{i}", f"s{i}", f"z{i}"], [f"d{i}"], name=f"dequantize{i}", axis=1),
            make_node("MatMul", [above, f"d{i}"], [f"m{i}"], name=f"matmul{i}"),
            make_node("Add", [f"m{i}", f"b{i}"], [f"a{i}"], name=f"add{i}"),
            make_node("Relu", [f"a{i}"], [below], name=f"relu{i}"),
        ]
    write(path, nodes, weights, [1, 16])


def pairs(path: Path, layers: int) -> None:
    """A deep chain, four nodes a layer, two of them a quantize and a dequantize of the activation."""
    rng = np.random.default_rng(4)
    names = ["x", *(f"r{i}" for i in range(layers - 1)), "y"]
    nodes, weights = list[NodeProto](), list[TensorProto]()
    for i, (above, below) in enumerate(pairwise(names)):
        weights += [
            from_array(np.float32(rng.uniform(0.01, 0.02)), f"s{i}"),
            from_array(np.uint8(0), f"z{i}"),
            from_array(rng.normal(0, 0.1, 16).astype(np.float32), f"b{i}"),
        ]
        nodes += [
            make_node("QuantizeLinear", [above, f"s{i}", f"z{i}"], [f"q{i}"], name=f"quantize{i}"),
            make_node("DequantizeLinear", [f"q{i}", f"s{i}", f"z{i}"], [f"d{i}"], name=f"dequantize{i}"),
            make_node("Add", [f"d{i}", f"b{i}"], [f"a{i}"], name=f"add{i}"),
            make_node("Relu", [f"a{i}"], [below], name=f"relu{i}"),
        ]
    write(path, nodes, weights, [1, 16])


def llm(path: Path, matrices: int, width: int, scale: Any) -> None:
    """Matrices of int4 in blocks of 32, all data in a file of its own."""
    rng = np.random.default_rng(3)
    codes = rng.bytes(width * width // 2)
    scales = rng.uniform(1e-3, 2e-3, width // BLOCK * width).astype(scale).tobytes()
    kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(scale))
    names = ["x", *(f"r{i}" for i in range(matrices - 1)), "y"]
    nodes, weights = list[NodeProto](), list[TensorProto]()
    with path.with_suffix(".data").open("wb") as file:
        for i, (above, below) in enumerate(pairwise(names)):
            turned = codes[64 * i :] + codes[: 64 * i]
            weights.append(_outside(file, f"w{i}", TensorProto.INT4, [width, width], turned))
            weights.append(_outside(file, f"s{i}", kind, [width // BLOCK, width], scales))
            nodes.append(make_node("DequantizeLinear", [f"w{i}", f"s{i}"], [f"d{i}"], axis=0, block_size=BLOCK))
            nodes.append(make_node("MatMul", [above, f"d{i}"], [below]))
    write(path, nodes, weights, [1, width], kind)


def _outside(file: Any, name: str, kind: int, dims: Sequence[int], data: bytes) -> TensorProto:
    """A tensor whose data is appended to the file."""
    tensor = TensorProto(name=name, data_type=kind, dims=dims, raw_data=b"")
    start = -(-file.tell() // 4096) * 4096
    file.seek(start)
    file.write(data)
    set_external_data(tensor, Path(file.name).name, start, len(data))
    return tensor


SUBJECTS: Mapping[str, Callable[[Path], None]] = {
    "tiny": partial(many, layers=1),
    "cnn": cnn,
    "many": partial(many, layers=5_000),
    "pairs": partial(pairs, layers=5_000),
    "many x2": partial(many, layers=10_000),
    "llm300": partial(llm, matrices=147, width=2048, scale=np.float32),
    "llm1500": partial(llm, matrices=185, width=4096, scale=np.float16),
}

if __name__ == "__main__":
    SUBJECTS[sys.argv[1]](Path(sys.argv[2]) / "model.onnx")
