"""MatMulNBits: a MatMul whose weights are codes of 2, 4 or 8 bits in blocks along K.

Source: operator schema and CPU kernel of ONNX Runtime 1.32, all executed. Codes lie in ``[N, blocks, bytes]``, low bits first, the last
block padded; scales in ``[N, blocks]`` or flat; without zero points the zero is the middle of the range. With float zero points or
`g_idx` the kernel computes ``q * scale - zero * scale``, which no dequantize says: a Sub of two products, unless K can be put into an
order in which groups are blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qdqtool import packed
from qdqtool.dialects.matmul_nbits import patterns, weights
from qdqtool.dialects.matmul_nbits.fusing import fuse
from qdqtool.dialects.matmul_nbits.splitting import split
from qdqtool.dialects.matmul_nbits.weights import DOMAIN
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Attribute, Expr, Op, Shape
from qdqtool.quantization import Blocked, Meaning

__all__ = ["DOMAIN", "INNER", "LAST", "NAME", "OPERATORS", "fuse", "meaning", "narrowed", "result", "split"]

NAME = "matmulnbits"
OPERATORS = ((DOMAIN, "MatMulNBits"),)
LAST = ("MatMul", "Gemm", "Add")
INNER = ("MatMul", "Gemm", "Add", "Transpose")


def result(op: str, attributes: Mapping[str, Attribute], inputs: Sequence[Expr | None]) -> tuple[ElementType | None, Shape | None]:
    a, _, scale = (*inputs, *(None,) * 3)[:3]
    n = attributes.get("N")
    shape = (*a.shape[:-1], n) if a is not None and a.shape and isinstance(n, int) else None
    return None if scale is None else scale.dtype, shape


def meaning(op: Op) -> Meaning | None:
    attributes = dict(op.attributes)
    bits, block = attributes.get("bits", 4), attributes.get("block_size")
    storage = packed.UNSIGNED.get(bits) if isinstance(bits, int) else None
    return Meaning("dequantize", storage, op.dtype, op.dtype, Blocked(1, block) if isinstance(block, int) else None)


def narrowed(expr: Expr, limit: int) -> Expr:
    if isinstance(expr, Op) and (expr.domain, expr.op) in OPERATORS:
        return weights.narrowed(expr, limit)
    return patterns.narrowed(expr, limit)
