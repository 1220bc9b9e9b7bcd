"""Quantization inside and across If, Loop and Scan bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from qdqtool import dtypes as D
from qdqtool.dtypes import ElementType
from tests.graphs.case import Case
from tests.graphs.draft import Draft, accepts
from tests.graphs.params import codes, scales

SHAPE = (2, 4)
Names = tuple[str, str, dict[str, int]]


def _parameters(d: Draft, storage: ElementType) -> Names:
    """Scale, zero point and attributes: blocks where the opset has them, else per axis, else per tensor."""
    size, attributes = ((2, 2), {"axis": 1, "block_size": 2}) if d.opset >= 21 else ((4,), {"axis": 1}) if d.opset >= 13 else ((), {})
    zero = np.full(size, 0 if storage.kind == "float" else 1).astype(storage.numpy)
    return d.constant("scale", scales(d, D.FLOAT, size)), d.constant("zero", zero), attributes


def if_floats(d: Draft, storage: ElementType) -> None:
    """Each branch dequantizes: one a captured outer weight, one its own; the captured scale serves both."""
    scale, zero, attributes = _parameters(d, storage)
    outer = d.constant("weight", codes(d, storage, SHAPE))
    then, other = d.child("then"), d.child("else")
    then.output(then.dequantize(outer, scale, zero, **attributes), D.FLOAT, SHAPE)
    other.output(other.dequantize(other.constant("weight", codes(other, storage, SHAPE)), scale, zero, **attributes), D.FLOAT, SHAPE)
    d.output(d.node("If", [d.input("cond", D.BOOL, ())], then_branch=then.graph("then"), else_branch=other.graph("else")), D.FLOAT, SHAPE)


def if_codes(d: Draft, storage: ElementType) -> None:
    """Constant codes leave both branches and are dequantized outside."""
    scale, zero, attributes = _parameters(d, storage)
    branches = [d.child("then"), d.child("else")]
    for b in branches:
        held = b.constant("weight", codes(b, storage, SHAPE))
        b.output(b.node("Identity", [held]), storage, SHAPE)
    q = d.node("If", [d.input("cond", D.BOOL, ())], then_branch=branches[0].graph("then"), else_branch=branches[1].graph("else"))
    d.output(d.dequantize(q, scale, zero, **attributes), D.FLOAT, SHAPE)


def if_quantized(d: Draft, storage: ElementType) -> None:
    """One branch quantizes x, the other gives constant codes; the result is dequantized outside."""
    scale, zero, attributes = _parameters(d, storage)
    x = d.input("x", D.FLOAT, SHAPE)
    then, other = d.child("then"), d.child("else")
    then.output(then.quantize(x, scale, zero, **attributes), storage, SHAPE)
    other.output(other.node("Identity", [other.constant("weight", codes(other, storage, SHAPE))]), storage, SHAPE)
    q = d.node("If", [d.input("cond", D.BOOL, ())], then_branch=then.graph("then"), else_branch=other.graph("else"))
    d.output(d.dequantize(q, scale, zero, **attributes), D.FLOAT, SHAPE)


def if_nested(d: Draft, storage: ElementType) -> None:
    """An If in an If; the weight is captured from two scopes up and quantization happens at both levels."""
    scale, zero, attributes = _parameters(d, storage)
    outer, cond = d.constant("weight", codes(d, storage, SHAPE)), d.input("cond", D.BOOL, ())
    x = d.input("x", D.FLOAT, SHAPE)
    then, other = d.child("then"), d.child("else")
    inner_then, inner_other = then.child("inner_then"), then.child("inner_else")
    inner_then.output(inner_then.dequantize(outer, scale, zero, **attributes), D.FLOAT, SHAPE)
    inner_other.output(inner_other.node("Relu", [x]), D.FLOAT, SHAPE)
    then.output(
        then.node("If", [cond], then_branch=inner_then.graph("inner_then"), else_branch=inner_other.graph("inner_else")), D.FLOAT, SHAPE
    )
    q = other.quantize(x, scale, zero, **attributes)
    other.output(other.dequantize(q, scale, zero, **attributes), D.FLOAT, SHAPE)
    d.output(d.node("If", [cond], then_branch=then.graph("then"), else_branch=other.graph("else")), D.FLOAT, SHAPE)


def _loop_body(d: Draft) -> tuple[Draft, str]:
    body = d.child("body")
    body.input("i", D.INT64, ())
    cond = body.input("keep_in", D.BOOL, ())
    body.output(body.node("Identity", [cond]), D.BOOL, ())
    return body, cond


def _loop(d: Draft, start: str, body: Draft, count: int = 1) -> str:
    trips, keep = d.constant("trips", np.array(3, np.int64)), d.constant("keep", np.array(True))
    return d.node("Loop", [trips, keep, start], count=count, body=body.graph("body"))


def loop_pair(d: Draft, storage: ElementType) -> None:
    """A pair inside a Loop's body, carried as floats; parameters captured."""
    scale, zero, attributes = _parameters(d, storage)
    body, _ = _loop_body(d)
    state = body.input("state", D.FLOAT, SHAPE)
    real = body.dequantize(body.quantize(state, scale, zero, **attributes), scale, zero, **attributes)
    body.output(body.node("Add", [real, real]), D.FLOAT, SHAPE)
    d.output(_loop(d, d.input("x", D.FLOAT, SHAPE), body), D.FLOAT, SHAPE)


def loop_codes(d: Draft, storage: ElementType) -> None:
    """Codes are the state a Loop carries: quantized outside, requantized inside, dequantized after."""
    scale, zero, attributes = _parameters(d, storage)
    body, _ = _loop_body(d)
    state = body.input("state", storage, SHAPE)
    real = body.dequantize(state, scale, zero, **attributes)
    body.output(body.quantize(body.node("Relu", [real]), scale, zero, **attributes), storage, SHAPE)
    start = d.quantize(d.input("x", D.FLOAT, SHAPE), scale, zero, **attributes)
    d.output(d.dequantize(_loop(d, start, body), scale, zero, **attributes), D.FLOAT, SHAPE)


def scan_rows(d: Draft, storage: ElementType) -> None:
    """A Scan's body dequantizes a captured weight and quantizes each row per tensor."""
    scale, zero, attributes = _parameters(d, storage)
    one = d.constant("row_scale", np.float32(0.5))
    row_zero = d.constant("row_zero", np.zeros((), storage.numpy))
    weight = d.constant("weight", codes(d, storage, SHAPE))
    body = d.child("body")
    row = body.input("row", D.FLOAT, (4,))
    w = body.dequantize(weight, scale, zero, **attributes)
    real = body.dequantize(body.quantize(row, one, row_zero), one, row_zero)
    body.output(body.node("Add", [w, real]), D.FLOAT, SHAPE)
    d.output(d.node("Scan", [d.input("x", D.FLOAT, (3, 4))], body=body.graph("body"), num_scan_inputs=1), D.FLOAT, (3, *SHAPE))


FORMS = (if_floats, if_codes, if_quantized, if_nested, loop_pair, loop_codes, scan_rows)
TYPES = (
    (D.INT8, 10),
    (D.UINT8, 13),
    (D.FLOAT8E4M3FN, 19),
    (D.INT4, 21),
    (D.UINT4, 23),
    (D.INT16, 21),
    (D.FLOAT4E2M1, 23),
    (D.UINT2, 25),
    (D.INT8, 25),
    (D.INT8, 28),
    (D.FLOAT8E5M2FNUZ, 28),
    (D.INT4, 28),
)


def rows() -> Iterator[tuple[str, str, int, Callable[[Draft], None]]]:
    for form in FORMS:
        for storage, opset in TYPES:
            if form in (if_codes, if_quantized, loop_codes) and not (accepts("If", storage, opset) and accepts("Identity", storage, opset)):
                continue
            yield form.__name__.replace("_", "-"), f"{storage}", opset, partial(form, storage=storage)


def cases() -> list[Case]:
    """Every row of this file."""
    notes = {f.__name__.replace("_", "-"): f.__doc__ or "" for f in FORMS}
    return [Case(f"{form}/{label}@{opset}", form, opset, notes[form], draw) for form, label, opset, draw in rows()]
