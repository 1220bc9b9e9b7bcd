"""GatherBlockQuantized: a Gather from a table of codes in blocks.

Source: operator schema and CPU kernel of ONNX Runtime 1.32, all executed. Tables of int4, uint4, float8 and float4 have 0 as their zero
where no zero points are given; tables of bytes hold codes of 2, 4 or 8 bits along the last axis, with the middle of the range as zero.
An index out of range gives zeros, where ai.onnx fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qdqtool import dtypes, packed
from qdqtool.dialects.gather_block_quantized.fusing import fuse
from qdqtool.dialects.gather_block_quantized.narrowing import narrowed
from qdqtool.dialects.gather_block_quantized.splitting import split
from qdqtool.dialects.gather_block_quantized.table import DOMAIN, integers
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Attribute, Expr, Op, Shape
from qdqtool.quantization import Blocked, Meaning

__all__ = ["DOMAIN", "INNER", "LAST", "NAME", "OPERATORS", "fuse", "meaning", "narrowed", "result", "split"]

NAME = "gatherblockquantized"
OPERATORS = ((DOMAIN, "GatherBlockQuantized"),)
LAST = ("Gather", "DequantizeLinear")
INNER = ("Gather",)


def result(op: str, attributes: Mapping[str, Attribute], inputs: Sequence[Expr | None]) -> tuple[ElementType | None, Shape | None]:
    return None if len(inputs) < 3 or inputs[2] is None else inputs[2].dtype, None


def meaning(op: Op) -> Meaning | None:
    attributes, data = integers(op), (*op.inputs, None)[0]
    storage = None if data is None else packed.UNSIGNED.get(attributes["bits"]) if data.dtype is dtypes.UINT8 else data.dtype
    rank = None if data is None or data.shape is None else len(data.shape)
    axis, block = attributes["quantize_axis"], attributes["block_size"]
    where = None if not block or (axis < 0 and rank is None) else Blocked(axis % rank if rank else axis, block)
    return Meaning("dequantize", storage, op.dtype, op.dtype, where)
