"""Round, Add, Clip in float32: the codes of a quantize, as numbers.

Below opset 11 rounding is by a magic number; what that is too small for saturates anyway. Exact for types of 16 bits or fewer and
every input but NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from qdqtool import dtypes, phrases
from qdqtool.dtypes import ElementType
from qdqtool.exactness import Exactness
from qdqtool.expressions import Expr, Step
from qdqtool.lowerings import Said
from qdqtool.raising import Context
from qdqtool.raising.pieces import (
    as_type,
    bounds,
    constant,
    fits,
    number,
    operator,
    own_parts,
    plain_codes,
    plain_rounding,
    ranged,
    spread_part,
    with_parameters,
)

NAME = "rounding"


def raised(expr: Expr, context: Context) -> Iterator[Said]:
    clip = operator(expr, "Clip")
    storage = None if clip is None or clip.dtype is not dtypes.FLOAT else ranged(bounds(clip, context))
    if clip is None or storage is None:
        return
    added = operator(clip.inputs[0], "Add")
    rounded = _rounded(clip.inputs[0], context)
    if rounded is not None:
        yield Said(plain_codes(plain_rounding(rounded, storage)), Exactness.VALUE_EQUAL)
    elif added is not None:
        for a, b in (added.inputs, added.inputs[::-1]):
            step = None if a is None else _shifted(a, b, storage, context)
            if step is not None:
                yield Said(plain_codes(step))


def _shifted(value: Expr, zero: Expr | None, storage: ElementType, context: Context) -> Step | None:
    rounded, const = _rounded(value, context), constant(zero)
    if rounded is None or const is None or not fits(const, storage, context):
        return None
    step = plain_rounding(rounded, storage)
    parts, part = own_parts(step), spread_part(const, step)
    if parts is None or part is None:
        return None
    if context.fact("value_range", const) == (0, 0):
        return step
    return with_parameters(step, parts[0], replace(part, const=as_type(const, storage)))


def _rounded(expr: Expr | None, context: Context) -> Expr | None:
    """What was rounded."""
    op = operator(expr, "Round")
    if op is not None:
        return op.inputs[0]
    back = operator(expr, "Sub")
    there = None if back is None else operator(back.inputs[0], "Add")
    if back is None or there is None or not number(back.inputs[1], context) == number(there.inputs[1], context) == phrases.MAGIC:
        return None
    return there.inputs[0]
