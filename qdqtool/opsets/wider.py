"""A type that an operator takes only from a later opset on: the operator works in a wider type between two Casts.

Only for operators that move, choose or compare elements, and for integer arithmetic: every value of the narrow type is one of
the wider, and what the operator gives is one too, or is cut off as the narrow operator would do it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.opsets import schemas
from qdqtool.opsets.draft import Draft
from qdqtool.opsets.forms import formal, of_node
from qdqtool.opsets.legality import problems
from qdqtool.opsets.schemas import Schema

_MOVES = (
    *("Identity", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Concat", "Split", "Slice", "Gather", "GatherElements"),
    *("GatherND", "Expand", "Tile", "Pad", "Where", "DepthToSpace", "SpaceToDepth", "ScatterElements", "ScatterND", "Scatter", "Compress"),
    *("ReverseSequence", "Trilu", "OneHot", "EyeLike", "Unique", "MaxUnpool", "CenterCropPad"),
)
_CHOOSES = ("Max", "Min", "ReduceMax", "ReduceMin", "MaxPool", "GlobalMaxPool", "Relu", "Clip", "Sign", "TopK", "ArgMax", "ArgMin")
_COMPARES = ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "NonZero", "IsNaN", "IsInf", "Shape", "Size")
_INTEGER_ARITHMETIC = ("Abs", "Add", "Sub", "Mul", "Neg", "ReduceSum", "CumSum", "MatMul", "Gemm", "Sum", "Div", "Mod")

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
    **dict.fromkeys(dtypes.FLOAT8, (dtypes.FLOAT16, dtypes.FLOAT)),
}
WIDER = {**_INTEGERS, **_FLOATS}


def widen(draft: Draft) -> str | None:
    """Casts around the draft's node; an empty reason where types are not what hinders it."""
    op = draft.node.op_type
    new = schemas.schema(op, "", draft.there)
    if new is None or new.deprecated:
        return ""
    kinds = {p.kind for p in problems(of_node(draft.node, draft.around.type), draft.there)}
    if not kinds <= {"type", "link"}:
        return ""
    narrow = _narrow(draft, new)
    if narrow is None or not _may(op, narrow):
        return ""
    goal = schemas.schema(op, "", draft.goal)
    fitting = [w for w in WIDER.get(narrow, ()) if _fits(draft, new, narrow, w)]
    wide = next((w for w in fitting if goal and _fits(draft, goal, narrow, w)), fitting[0] if fitting else None)
    if wide is None:
        return ""
    _write(draft, new, narrow, wide)
    return None


def _may(op: str, narrow: ElementType) -> bool:
    """Sums and products of integers wrap around alike; those of floats would be rounded otherwise."""
    return op in (*_MOVES, *_CHOOSES, *_COMPARES) or (op in _INTEGER_ARITHMETIC and narrow.integer)


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
    """The version takes it; integer sums and products must stay integers, which wrap around and are cut off."""
    if draft.node.op_type in _INTEGER_ARITHMETIC and narrow.integer and not wide.integer:
        return False
    places = [formal(new.inputs, i) for i, name in enumerate(draft.node.input) if name and draft.around.type(name) is narrow]
    return all(p is not None and (narrow in p.allowed or wide in p.allowed) for p in places)


def _write(draft: Draft, new: Schema, narrow: ElementType, wide: ElementType) -> None:
    node, inputs, variables = draft.node, list(draft.node.input), set[str]()
    for index, name in enumerate(node.input):
        parameter = formal(new.inputs, index)
        if name and parameter is not None and draft.around.type(name) is narrow and narrow not in parameter.allowed:
            inputs[index] = draft.cast(name, wide)
            variables |= {parameter.variable} - {""}
    casts = [bool(name) and (p := formal(new.outputs, i)) is not None and p.variable in variables for i, name in enumerate(node.output)]
    outputs = [draft.fresh(str(wide)) if cast else name for name, cast in zip(node.output, casts, strict=True)]
    draft.keep(inputs=inputs, outputs=outputs)
    for name, inner, cast in zip(node.output, outputs, casts, strict=True):
        if cast:
            draft.cast(inner, narrow, name)
