"""Models with block-quantized operators of ONNX Runtime in every layout, and the weights they stand for, one scalar at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from qdqtool.check import sessions

Array = np.ndarray[Any, np.dtype[Any]]
MICROSOFT = "com.microsoft"


@dataclass(frozen=True)
class Layout:
    """A MatMulNBits node. `zero` is none, packed or float, `groups` the order of g_idx; `uses` counts nodes of the same weights."""

    bits: int = 4
    block: int = 32
    k: int = 64
    n: int = 24
    zero: str = "none"
    half: bool = False
    bias: bool = False
    groups: str = ""
    flat: bool = False
    uses: int = 1
    level: int | None = None

    @property
    def real(self) -> Any:
        return np.float16 if self.half else np.float32

    @property
    def count(self) -> int:
        return -(-self.k // self.block)

    def __str__(self) -> str:
        marks = [f"{self.bits}bit", f"b{self.block}", f"k{self.k}", self.zero, "f16" if self.half else "f32", self.groups]
        return "-".join(m for m in (*marks, "bias" * self.bias, "flat" * self.flat, f"x{self.uses}" if self.uses > 1 else "") if m)


@dataclass(frozen=True)
class Drawn:
    """Numbers for a layout: codes ``[N, blocks * block]``, scales and zero points ``[N, blocks]``, groups ``[K]``, bias ``[N]``."""

    codes: Array
    scale: Array
    zero: Array | None
    groups: Array | None
    bias: Array | None


def drawn(layout: Layout, seed: int = 0) -> Drawn:
    rng = np.random.default_rng(seed)
    shape, top = (layout.n, layout.count), 1 << layout.bits
    codes = rng.integers(0, top, (layout.n, layout.count * layout.block)).astype(np.uint8)
    scale = (rng.random(shape) * 0.1 + 0.01).astype(layout.real)
    whole, broken = rng.integers(0, top, shape).astype(np.uint8), (rng.random(shape) * top).astype(layout.real)
    zero = {"none": None, "packed": whole, "float": broken}[layout.zero]
    order = {"ordered": np.arange(layout.k), "mixed": rng.permutation(layout.k), "uneven": rng.integers(0, layout.k, layout.k)}
    groups = (order[layout.groups] // layout.block).astype(np.int32) if layout.groups else None
    return Drawn(codes, scale, zero, groups, rng.normal(size=layout.n).astype(layout.real) if layout.bias else None)


def in_bytes(codes: Array, bits: int) -> Array:
    """Rows of codes as rows of bytes, low bits first, the last byte filled with the middle of the range."""
    rows = []
    for row in codes:
        padded = [*map(int, row), *[1 << (bits - 1)] * (-len(row) % (8 // bits))]
        groups = [padded[i : i + 8 // bits] for i in range(0, len(padded), 8 // bits)]
        rows.append([sum(code << (bits * place) for place, code in enumerate(group)) for group in groups])
    return np.array(rows, np.uint8).reshape(len(codes), -1)


def weights(layout: Layout, numbers: Drawn) -> Array:
    """``[K, N]``, by the formula of the operator's documentation; where no dequantize says that, as the kernel computes."""
    out = np.zeros((layout.k, layout.n), layout.real)
    for n in range(layout.n):
        for k in range(layout.k):
            block = k // layout.block if numbers.groups is None else int(numbers.groups[k])
            scale = np.float32(numbers.scale[n, block])
            zero = np.float32(1 << (layout.bits - 1)) if numbers.zero is None else np.float32(numbers.zero[n, block])
            code = np.float32(numbers.codes[n, k])
            parted = layout.zero == "float" or layout.groups == "uneven"
            out[k, n] = layout.real(np.float32(code * scale) - np.float32(zero * scale) if parted else (code - zero) * scale)
    return out


def model(layout: Layout, numbers: Drawn) -> ModelProto:
    """``y0 = A B``, and more of them with the same weights."""
    blob = layout.block * layout.bits // 8
    tensors = {"B": in_bytes(numbers.codes, layout.bits).reshape(layout.n, layout.count, blob)}
    tensors["scales"] = numbers.scale.reshape(-1) if layout.flat else numbers.scale
    if numbers.zero is not None:
        packed = in_bytes(numbers.zero, layout.bits) if layout.zero == "packed" else numbers.zero
        tensors["zeros"] = packed.reshape(-1) if layout.flat else packed
    tensors |= {name: value for name, value in (("groups", numbers.groups), ("bias", numbers.bias)) if value is not None}
    names = ["A", "B", "scales", *(name if name in tensors else "" for name in ("zeros", "groups", "bias"))]
    while not names[-1]:
        names.pop()
    attributes = {"K": layout.k, "N": layout.n, "bits": layout.bits, "block_size": layout.block}
    attributes |= {} if layout.level is None else {"accuracy_level": layout.level}
    nodes = [helper.make_node("MatMulNBits", names, [f"y{i}"], f"product{i}", domain=MICROSOFT, **attributes) for i in range(layout.uses)]
    real = TensorProto.FLOAT16 if layout.half else TensorProto.FLOAT
    return built(nodes, [("A", real, ("batch", layout.k))], [(f"y{i}", real) for i in range(layout.uses)], tensors)


def built(
    nodes: Sequence[NodeProto],
    inputs: Sequence[tuple[str, int, Sequence[Any]]],
    outputs: Sequence[tuple[str, int]],
    tensors: dict[str, Array],
    opset: int = 21,
) -> ModelProto:
    """A model at an opset, with com.microsoft."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info(name, dtype, shape) for name, dtype, shape in inputs],
        [helper.make_tensor_value_info(name, dtype, None) for name, dtype in outputs],
        [numpy_helper.from_array(value, name) for name, value in tensors.items()],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def run(proto: ModelProto, feeds: dict[str, Array]) -> dict[str, Array]:
    """Outputs by ONNX Runtime, nothing optimized."""
    names = [output.name for output in proto.graph.output]
    with sessions.session(proto.SerializeToString(), sessions.Setting(threads=1)) as opened:
        return {name: np.asarray(value) for name, value in sessions.run(opened, feeds, names).items()}


def operators(proto: ModelProto) -> list[str]:
    return [node.op_type for node in proto.graph.node]


def constants(proto: ModelProto) -> dict[str, Array]:
    """Constants by name, codes as numbers."""
    return {t.name: numpy_helper.to_array(t) for t in proto.graph.initializer}


def operand(proto: ModelProto, op: str, slot: int, number: int = 0) -> Array | None:
    """A constant that the given node of an operator reads."""
    node = [n for n in proto.graph.node if n.op_type == op][number]
    return constants(proto)[node.input[slot]] if slot < len(node.input) and node.input[slot] else None
