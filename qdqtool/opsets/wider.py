"""A type that an operator takes only from a later opset on: the operator works in a wider type between two Casts.

Every value of the narrow type is one of the wider, and what the operator gives is one too, or is rounded or cut off as the
narrow operator would do it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.opsets import schemas
from qdqtool.opsets.draft import Draft
from qdqtool.opsets.forms import formal
from qdqtool.opsets.schemas import Schema

_MOVES = (
    *("Identity", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Concat", "Split", "Slice", "Gather", "GatherElements"),
    *("GatherND", "Expand", "Tile", "Pad", "Where", "DepthToSpace", "SpaceToDepth", "ScatterElements", "ScatterND", "Scatter", "Compress"),
    *("ReverseSequence", "Trilu", "OneHot", "EyeLike", "Unique", "MaxUnpool", "CenterCropPad"),
)
_CHOOSES = ("Max", "Min", "ReduceMax", "ReduceMin", "MaxPool", "GlobalMaxPool", "Relu", "Clip", "Abs", "Sign", "TopK", "ArgMax", "ArgMin")
_COMPARES = ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "NonZero", "IsNaN", "IsInf", "Shape", "Size")
_INTEGER_ARITHMETIC = ("Add", "Sub", "Mul", "Neg", "ReduceSum", "CumSum", "MatMul", "Gemm", "Sum", "Div", "Mod")

_INTEGERS: Mapping[ElementType, Sequence[ElementType]] = {
    dtypes.BOOL: (dtypes.UINT8, dtypes.INT32, dtypes.FLOAT),
    dtypes.INT8: (dtypes.INT32, dtypes.INT64, dtypes.FLOAT),
    dtypes.UINT8: (dtypes.INT32, dtypes.INT64, dtypes.FLOAT),
    dtypes.INT16: (dtypes.INT32, dtypes.INT64, dtypes.FLOAT),
    dtypes.UINT16: (dtypes.INT32, dtypes.INT64, dtypes.FLOAT),
    dtypes.INT32: (dtypes.INT64, dtypes.DOUBLE),
    dtypes.UINT32: (dtypes.INT64, dtypes.DOUBLE),
}
_FLOATS: Mapping[ElementType, Sequence[ElementType]] = {
    dtypes.FLOAT16: (dtypes.FLOAT,),
    dtypes.BFLOAT16: (dtypes.FLOAT,),
    dtypes.FLOAT: (dtypes.DOUBLE,),
}
WIDER = {**_INTEGERS, **_FLOATS}


def widen(draft: Draft) -> str | None:
    """Casts around the draft's node; an empty reason where types are not what hinders it."""
    op = draft.node.op_type
    new = schemas.schema(op, "", draft.there)
    if new is None or new.deprecated or op not in (*_MOVES, *_CHOOSES, *_COMPARES, *_INTEGER_ARITHMETIC, *ROUNDED):
        return ""
    narrow = _narrow(draft, new)
    if narrow is None or (op in _INTEGER_ARITHMETIC and not narrow.integer):
        return ""
    wide = next((w for w in WIDER.get(narrow, ()) if _fits(draft, new, narrow, w)), None)
    if wide is None:
        return ""
    _write(draft, new, narrow, wide)
    if op in ROUNDED:
        draft.rounds(1, narrow)
    return None


ROUNDED: tuple[str, ...] = ()


def _narrow(draft: Draft, new: Schema) -> ElementType | None:
    """The one type of an operand that the version lacks."""
    lacking = {
        dtype
        for index, name in enumerate(draft.node.input)
        if name and (dtype := draft.around.type(name)) is not None
        if (parameter := formal(new.inputs, index)) is not None and dtype not in parameter.allowed
    }
    return next(iter(lacking)) if len(lacking) == 1 else None


def _fits(draft: Draft, new: Schema, narrow: ElementType, wide: ElementType) -> bool:
    if draft.node.op_type in ("Div", "Mod", "ArgMax", "ArgMin", "Relu") and not wide.integer and narrow.integer and wide is dtypes.FLOAT:
        return draft.node.op_type not in ("Div", "Mod")
    places = [formal(new.inputs, i) for i, name in enumerate(draft.node.input) if name and draft.around.type(name) is narrow]
    return all(p is not None and wide in p.allowed for p in places)


def _write(draft: Draft, new: Schema, narrow: ElementType, wide: ElementType) -> None:
    variables = {p.variable for i, n in enumerate(draft.node.input) if n and draft.around.type(n) is narrow if (p := formal(new.inputs, i))}

    def linked(index: int, parameters: Sequence[schemas.Formal]) -> bool:
        parameter = formal(parameters, index)
        return parameter is not None and bool(parameter.variable) and parameter.variable in variables

    inputs = [
        draft.cast(name, wide) if name and draft.around.type(name) is narrow and linked(i, new.inputs) else name
        for i, name in enumerate(draft.node.input)
    ]
    casts = [bool(name) and linked(i, new.outputs) for i, name in enumerate(draft.node.output)]
    outputs = [draft.fresh(f"{wide}") if cast else name for name, cast in zip(draft.node.output, casts, strict=True)]
    draft.keep(inputs=inputs, outputs=outputs)
    for name, inner, cast in zip(draft.node.output, outputs, casts, strict=True):
        if cast:
            draft.cast(inner, narrow, name)
