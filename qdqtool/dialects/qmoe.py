"""QMoE: a mixture of experts whose weights are codes, read for inspection only.

Source: operator schema of ONNX Runtime 1.32. Integer weights lie in ``[experts, N, bytes of K]``, one scale for each row, or for each block
along K. Which expert computes is chosen at run time, so there is no plain operator that it could be split around.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qdqtool import dtypes, packed
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Attribute, Expr, Op, Shape
from qdqtool.quantization import Blocked, Meaning, Tiles

NAME = "qmoe"
DOMAIN = "com.microsoft"
OPERATORS = ((DOMAIN, "QMoE"),)

_FLOATS = {"fp4": dtypes.FLOAT4E2M1, "nvfp4": dtypes.FLOAT4E2M1, "fp8": dtypes.FLOAT8E4M3FN}


def result(op: str, attributes: Mapping[str, Attribute], inputs: Sequence[Expr | None]) -> tuple[ElementType | None, Shape | None]:
    given = inputs[0] if inputs else None
    return (None, None) if given is None else (given.dtype, given.shape)


def meaning(op: Op) -> Meaning | None:
    """What it says about the weights of its first layer."""
    attributes, scale = dict(op.attributes), op.inputs[3] if len(op.inputs) > 3 else None
    kind, block = attributes.get("quant_type", "int"), attributes.get("block_size", 0)
    bits = attributes.get("fc1_expert_weight_bits", attributes.get("expert_weight_bits", 4))
    storage = packed.UNSIGNED.get(bits) if kind == "int" and isinstance(bits, int) else _FLOATS.get(str(kind))
    where = Blocked(2, block) if isinstance(block, int) and block > 0 else Tiles(((0, 1), (1, 1)))
    square = kind == "fp8" and isinstance(where, Blocked)
    said = Tiles(((1, where.block), (2, where.block))) if square and isinstance(where, Blocked) else where
    return Meaning("dequantize", storage, op.dtype, None if scale is None else scale.dtype, said)
