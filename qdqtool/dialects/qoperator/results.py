"""Types and shapes of what integer operators give, and what a report says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from qdqtool import dtypes
from qdqtool.dialects.qoperator.forms import FORMS, channels
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Attribute, Expr, Op, Shape
from qdqtool.quantization import Meaning, PerAxis, PerTensor

MOST = 9
"""Operands of any operator that has no more of them the more it joins."""


def result(op: str, attributes: Mapping[str, Attribute], inputs: Sequence[Expr | None]) -> tuple[ElementType | None, Shape | None]:
    form, operands = FORMS[op], (*inputs, *(None,) * MOST)
    codes = [None if (part := operands[slots[0]]) is None else part.shape for slots in form.reads]
    if form.plain in ("Add", "Mul", "Where"):
        shape = _broadcast(codes)
    elif form.plain in ("Sigmoid", "LeakyRelu", "Softmax"):
        shape = codes[0]
    else:
        shape = _any_of_rank(form.plain, codes, attributes)
    return _type(op, operands), shape


def _type(op: str, operands: Sequence[Expr | None]) -> ElementType | None:
    """That of the result's zero point, else of the first codes; a real one is that of the scales."""
    form = FORMS[op]
    if form.gives is None:
        scale = operands[form.reads[0][1]]
        return None if scale is None else scale.dtype
    if operands[form.gives[0]] is None:
        scale = operands[form.reads[0][1]] if op == "QGemm" else None
        return None if scale is None else scale.dtype
    places = (form.gives[1], *(slots[0] for slots in form.reads), *((2, 4) if op == "QLinearConcat" else ()))
    known = (part.dtype for slot in places if (part := operands[slot]) is not None)
    return next((dtype for dtype in known if dtype is not None), None)


def _broadcast(shapes: Sequence[Shape | None]) -> Shape | None:
    if any(shape is None for shape in shapes):
        return None
    turned = zip_longest(*(reversed(shape) for shape in shapes if shape is not None), fillvalue=1)
    found = [[d for d in dims if d != 1] for dims in turned]
    return tuple(1 if not dims else next((d for d in dims if d is not None), None) for dims in reversed(found))


def _any_of_rank(plain: str, codes: Sequence[Shape | None], attributes: Mapping[str, Attribute]) -> Shape | None:
    """As many dimensions as the first operand has, unknown; where that decides."""
    if plain not in ("Conv", "AveragePool", "GlobalAveragePool") or not codes or codes[0] is None:
        return None
    return (codes[0][0], *(None,) * (len(codes[0]) - 1))


def meaning(op: Op) -> Meaning | None:
    """What it says about its weights, else about its result."""
    form, operands = FORMS[op.op], (*op.inputs, *(None,) * MOST)
    slots = form.reads[1] if form.weighted else (0, *form.gives) if form.gives is not None else form.reads[0]
    codes, scale = operands[slots[0]], operands[slots[1]]
    if scale is None:
        return None
    axis, rank = channels(op, len(form.reads) - 1), None if codes is None or codes.shape is None else len(codes.shape)
    vector = scale.shape not in ((), (1,)) and axis is not None and rank is not None
    granularity = PerAxis(axis % rank) if vector and axis is not None and rank else PerTensor()
    if form.weighted or form.gives is None:
        return Meaning("dequantize", None if codes is None else codes.dtype, scale.dtype, scale.dtype, granularity)
    return Meaning("quantize", op.dtype, scale.dtype, scale.dtype, granularity, dtypes.FLOAT)
