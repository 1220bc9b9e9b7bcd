"""A look-up of small-float codes in the table of their values: the codes as such."""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool import dtypes
from qdqtool.expressions import Computed, Const, Expr, Op, Stored
from qdqtool.lowerings import Said
from qdqtool.raising import Context
from qdqtool.raising.pieces import constant, operator, plain_codes

NAME = "lookup"

STORAGES = (*dtypes.FLOAT8, dtypes.FLOAT4E2M1, dtypes.FLOAT6E2M3, dtypes.FLOAT6E3M2)


def raised(expr: Expr, context: Context) -> Iterator[Said]:
    gather = operator(expr, "Gather")
    if gather is None or gather.dtype is not dtypes.FLOAT or dict(gather.attributes).get("axis", 0) != 0:
        return
    table, codes = constant(gather.inputs[0]), _bytes(gather)
    if codes is None or table is None or len(table.shape) != 1:
        return
    for storage in STORAGES:
        if table.shape == (1 << storage.bits,) and context.fact("values_of", table, storage):
            low, high = context.fact("value_range", codes)
            if low >= 0 and high < table.shape[0]:
                yield Said(plain_codes(Computed("from_codes", (codes,), (storage,), storage, codes.shape)))


def _bytes(gather: Op) -> Const | None:
    """The constant uint8 codes behind the indices."""
    indices = constant(gather.inputs[1])
    while isinstance(indices, Computed) and indices.kernel == "onnx_cast" and indices.args[0].dtype.integer:
        indices = indices.args[0]
    return indices if isinstance(indices, Stored | Computed) and indices.dtype is dtypes.UINT8 else None
