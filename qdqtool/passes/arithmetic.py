"""Arithmetic on constants, as exporters leave it in front of scales and zero points."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from onnx import NodeProto

from qdqtool import dtypes
from qdqtool.expressions import Computed, Const
from qdqtool.kernels.arithmetic import OPERATIONS
from qdqtool.passes.movers import Integers

LARGEST = 1 << 22
"""Most elements of a result: it is computed whole."""

OPERATORS = frozenset({*OPERATIONS, "Expand"})

_FLOATS = (dtypes.FLOAT, dtypes.FLOAT16, dtypes.BFLOAT16, dtypes.DOUBLE)


def computed(node: NodeProto, operands: Sequence[Const], integers: Integers) -> Const | None:
    """What a node of `OPERATORS` makes of constants; None where that is not certain to the last bit."""
    if node.op_type == "Expand":
        return _expanded(operands, integers)
    if len({o.dtype for o in operands}) > 1 or operands[0].dtype not in _FLOATS or node.attribute:
        return None
    shape = _broadcast([o.shape for o in operands])
    if shape is None or prod(shape) > LARGEST:
        return None
    return Computed("arithmetic", tuple(operands), (node.op_type,), operands[0].dtype, shape)


def _expanded(operands: Sequence[Const], integers: Integers) -> Const | None:
    wanted = integers(operands[1]) if len(operands) == 2 else None
    shape = None if wanted is None or min(wanted, default=0) < 0 else _broadcast([operands[0].shape, tuple(wanted)])
    if shape is None or prod(shape) > LARGEST:
        return None
    return operands[0] if shape == operands[0].shape else Computed("expand", (operands[0],), (shape,), operands[0].dtype, shape)


def _broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None
