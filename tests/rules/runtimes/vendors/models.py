"""Sound models that the broken ones are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ModelProto, ValueInfoProto, helper

from qdqtool import dtypes as t
from tests.rules.case import attribute, changed, codes, constant, model, scales, zeros


@dataclass(frozen=True, slots=True)
class Given:
    """`bad` is `good` with one thing changed; ``--for target`` finds `code` in it with `message`, and no such code in `good`."""

    name: str
    target: str
    good: ModelProto
    bad: ModelProto
    code: str
    message: str


MICROSOFT = {"com.microsoft": 1}
ZERO, HALF = np.int8(0), 0.5


def pair(storage: t.ElementType, at: int = 19) -> ModelProto:
    """An activation quantized and dequantized."""
    text = "g (float[4, 8] x) => (float[4, 8] y) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }"
    return model(text, at, s=HALF, z=zeros(storage))


def weight(storage: t.ElementType, at: int = 19, axis: int | None = 1) -> ModelProto:
    """A weight before a MatMul, with a scale for each column."""
    written = "" if axis is None else f"<axis = {axis}>"
    text = f"g (float[2, 4] x) => (float[2, 8] y) {{ v = DequantizeLinear {written} (w, s, z) y = MatMul(x, v) }}"
    return model(text, at, w=codes(storage, 4, 8), s=scales(8), z=zeros(storage, 8))


def blocks(storage: t.ElementType, block: int, axis: int = 0) -> ModelProto:
    """A weight of 64 by 32 in blocks."""
    shape = [64, 32]
    shape[axis] = -(-shape[axis] // block)
    written = f"<axis = {axis}, block_size = {block}>"
    text = f"g (float[2, 64] x) => (float[2, 32] y) {{ v = DequantizeLinear {written} (w, s) y = MatMul(x, v) }}"
    return model(text, 23, w=codes(storage, 64, 32), s=scales(*shape))


def layer(op: str = "Conv", data: t.ElementType = t.INT8, kind: t.ElementType = t.INT8, **more: Any) -> ModelProto:
    """A product of a quantized activation and a weight with one scale for each output, quantized again."""
    x, y, w, axis = ("[1, 4, 8, 8]", "[1, 8, 8, 8]", (8, 4, 1, 1), 0) if op == "Conv" else ("[2, 4]", "[2, 8]", (4, 8), 1)
    bias = ", b" if "b" in more else ""
    text = (
        f"g (float{x} x) => (float{y} y) {{ q = QuantizeLinear(x, sx, zx) d = DequantizeLinear(q, sx, zx)"
        f" v = DequantizeLinear <axis = {axis}> (w, sw, zw) p = {op}(d, v{bias})"
        " r = QuantizeLinear(p, sy, zx) y = DequantizeLinear(r, sy, zx) }"
    )
    low = np.linspace(-3, 3, 32).astype(np.int8).astype(kind.numpy) if kind.low < 0 else codes(kind, 32)
    given = {"w": low.reshape(w), "sw": np.full(w[axis], 2.0**-5, np.float32), "zw": zeros(kind, w[axis])}
    return model(text, 21, sx=2.0**-5, zx=zeros(data), sy=2.0**-5, **given, **more)


def unary(op: str, storage: t.ElementType, scale: float, zero: int, at: int = 21) -> ModelProto:
    """An operator between codes."""
    text = (
        "g (float[1, 2, 4, 4] x) => (float[1, 2, 4, 4] y) { q = QuantizeLinear(x, sx, zx) d = DequantizeLinear(q, sx, zx)"
        f" p = {op}(d) r = QuantizeLinear(p, s, z) y = DequantizeLinear(r, s, z) }}"
    )
    return model(text, at, sx=scale, zx=zeros(storage), s=scale, z=np.array(zero).astype(storage.numpy))


BLOCKED = model(
    "g (float[2, 64] x) => (float[2, 32] y) { q = QuantizeLinear(x, sx, zx) d = DequantizeLinear(q, sx, zx)"
    " v = DequantizeLinear <axis = 0, block_size = 16> (w, sw, zw) p = MatMul(d, v)"
    " r = QuantizeLinear(p, sy, zx) y = DequantizeLinear(r, sy, zx) }",
    21,
    sx=2.0**-5,
    zx=np.uint16(0),
    w=codes(t.INT4, 64, 32),
    sw=scales(4, 32),
    zw=zeros(t.INT4, 4, 32),
    sy=2.0**-5,
)
FINE = changed(pair(t.INT8, 23), constant(s=0.1666))
ONE_SCALE = changed(weight(t.INT8), constant(s=HALF, z=ZERO), attribute("v", axis=None))
ONE_LAYER = changed(layer(), constant(sw=2.0**-5, zw=ZERO), attribute("v", axis=None))


def shown(name: str, shape: list[int]) -> ValueInfoProto:
    """Another result."""
    return helper.make_tensor_value_info(name, t.FLOAT.code, shape)


def sorted_again(proto: ModelProto) -> None:
    """The second node comes first."""
    proto.graph.node.insert(0, proto.graph.node.pop(1))


def both(op: str, a: int, b: int, out: int) -> ModelProto:
    """An operator on two activations with scales 2 to the -a and -b."""
    text = (
        "g (float[2, 4] x, float[2, 4] u) => (float[2, 4] y) { q = QuantizeLinear(x, sa, z) d = DequantizeLinear(q, sa, z)"
        " h = QuantizeLinear(u, sb, z) e = DequantizeLinear(h, sb, z)"
        f" p = {op}(d, e) r = QuantizeLinear(p, so, z) y = DequantizeLinear(r, so, z) }}"
    )
    return model(text, 17, sa=2.0**-a, sb=2.0**-b, so=2.0**-out, z=ZERO)


GATED = model(
    "g (float[2, 4] x) => (float[2, 4] y) { q = QuantizeLinear(x, sx, z) d = DequantizeLinear(q, sx, z)"
    " g = HardSigmoid(d) h = QuantizeLinear(g, sg, z) e = DequantizeLinear(h, sg, z)"
    " p = Mul(d, e) r = QuantizeLinear(p, so, z) y = DequantizeLinear(r, so, z) }",
    17,
    sx=2.0**-5,
    sg=2.0**-7,
    so=2.0**-5,
    z=ZERO,
)
JOINED = model(
    "g (float[2, 4] x, float[2, 4] u) => (float[4, 4] y) { q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z)"
    " h = QuantizeLinear(u, s, z) e = DequantizeLinear(h, s, z)"
    " p = Concat <axis = 0> (d, e) r = QuantizeLinear(p, s, z) y = DequantizeLinear(r, s, z) }",
    17,
    s=HALF,
    z=ZERO,
    s2=0.25,
)
DYNAMIC = model(
    "g (float[2, 4] x, float s) => (float[2, 4] y) { q = QuantizeLinear(x, t, z) y = DequantizeLinear(q, t, z) }", 17, t=HALF, z=ZERO
)
ADD = model(
    "g (int8[2, 4] a, int8[2, 4] b) => (int8[2, 4] y) { y = com.microsoft.QLinearAdd(a, s, z, b, s, z, s, z) }",
    17,
    imports=MICROSOFT,
    s=HALF,
    z=ZERO,
)
PLUS = model(
    "g (float[2, 4] x) => (float[2, 4] y) { q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) y = Relu(d) }",
    17,
    imports=MICROSOFT,
    s=HALF,
    z=ZERO,
)
Q_MATMUL = model(
    "g (int8[2, 4] a) => (int8[2, 8] y) { y = QLinearMatMul(a, s, z, w, sw, zw, s, z) }",
    17,
    s=HALF,
    z=ZERO,
    w=codes(t.INT8, 4, 8),
    sw=HALF,
    zw=ZERO,
)
N_BITS = model(
    "g (float[2, 64] x) => (float[2, 8] y) { y = com.microsoft.MatMulNBits <K = 64, N = 8, bits = 4, block_size = 32> (x, w, s) }",
    21,
    imports=MICROSOFT,
    w=np.zeros((8, 2, 16), np.uint8),
    s=scales(8, 2),
)
FLOAT_MATMUL = model("g (float[2, 64] x) => (float[2, 8] y) { y = MatMul(x, w) }", 21, imports=MICROSOFT, w=np.ones((64, 8), np.float32))
GATHER = model(
    "g (int64[2] i) => (float[2, 32] y) {"
    " y = com.microsoft.GatherBlockQuantized <gather_axis = 0, quantize_axis = 1, block_size = 16> (d, i, s) }",
    21,
    imports=MICROSOFT,
    d=codes(t.INT4, 4, 32),
    s=scales(4, 2),
)
READ = model(
    "g (float[2, 4] x) => (float[2, 8] y) { v = DequantizeLinear(w, s) u = Reshape(v, n) y = MatMul(x, u) }",
    17,
    w=codes(t.INT8, 8, 4),
    s=HALF,
    n=np.array([4, 8], np.int64),
)
RANKED = model("g (float[1, 1, 1, 1, 1, 1, 1, 2] x) => (uint8 q) { q = QuantizeLinear(x, s, z) }", 17, s=HALF, z=np.uint8(0))
BLOCKED_Q = model(
    "g (float[4, 8] x) => (int8[4, 8] q) { q = QuantizeLinear <axis = 1, block_size = 4> (x, s, z) }",
    21,
    s=scales(4, 2),
    z=zeros(t.INT8, 4, 2),
)
