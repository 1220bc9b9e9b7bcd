"""Attributes, mixed types and operand spellings of single nodes: each row is a form, drawn at the opsets named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from qdqtool import dtypes as D
from qdqtool.dtypes import ElementType
from tests.graphs.case import Case
from tests.graphs.draft import Draft
from tests.graphs.params import codes, scales, zero_points

Drawer = Callable[[Draft], None]


def q(d: Draft, storage: ElementType, x: ElementType, scale: ElementType, *, zero: str = "even", **attributes: int) -> None:
    """One QuantizeLinear per tensor, codes out."""
    shape = (4, 6)
    s = d.constant("scale", scales(d, scale, ()))
    z = "" if zero == "none" else d.constant("zero", zero_points(d, storage, zero, ()))
    d.output(d.quantize(d.input("x", x, shape), s, z, **attributes), storage, shape)


def dq(
    d: Draft,
    storage: ElementType,
    scale: ElementType,
    out: ElementType,
    *,
    zero: str = "even",
    shape: tuple[int, ...] = (4, 6),
    **attributes: int,
) -> None:
    """One DequantizeLinear of a constant per tensor."""
    s = d.constant("scale", scales(d, scale, ()))
    z = "" if zero == "none" else d.constant("zero", zero_points(d, storage, zero, ()))
    d.output(d.dequantize(d.constant("weight", codes(d, storage, shape)), s, z, **attributes), out, shape)


def pair(d: Draft, storage: ElementType, x: ElementType, *, zero: str = "even", **attributes: int) -> None:
    """A pair per tensor; the attributes go to the QuantizeLinear."""
    s = d.constant("scale", scales(d, x, ()))
    z = d.constant("zero", zero_points(d, storage, zero, ()))
    d.output(d.dequantize(d.quantize(d.input("x", x, (4, 6)), s, z, **attributes), s, z), x, (4, 6))


def saturate() -> Iterator[tuple[str, int, Drawer]]:
    for storage in D.FLOAT8:
        for opset in (19, 21, 23, 25, 28):
            for value in (0, 1):
                yield (
                    f"saturate{value}/{storage}",
                    opset,
                    partial(q, storage=storage, x=D.FLOAT, scale=D.FLOAT, zero="zero", saturate=value),
                )
        yield f"saturate0-pair/{storage}", 19, partial(pair, storage=storage, x=D.FLOAT, zero="zero", saturate=0)
    yield "saturate0-integer/int8", 19, partial(q, storage=D.INT8, x=D.FLOAT, scale=D.FLOAT, saturate=0)
    yield "saturate0-integer/int4", 21, partial(q, storage=D.INT4, x=D.FLOAT, scale=D.FLOAT, saturate=0)


def precision() -> Iterator[tuple[str, int, Drawer]]:
    real = (D.FLOAT, D.FLOAT16, D.BFLOAT16)
    for opset in (23, 25, 28):
        for storage in (D.INT8, D.UINT16, D.INT4, D.FLOAT8E4M3FN):
            zero = "zero" if storage.kind == "float" else "odd"
            for x in real:
                for scale in real:
                    for p in (None, *real):
                        if (opset, storage) != (23, D.INT8) and (x is scale) == (p is None):
                            continue
                        label = f"precision-{p}/{storage}-{x}-{scale}" if p else f"mixed-types/{storage}-{x}-{scale}"
                        more = {"precision": p.code} if p else {}
                        yield label, opset, partial(q, storage=storage, x=x, scale=scale, zero=zero, **more)


def output_dtype() -> Iterator[tuple[str, int, Drawer]]:
    real = (D.FLOAT, D.FLOAT16, D.BFLOAT16)
    for opset in (23, 24, 28):
        for storage in (D.INT8, D.INT4, D.UINT16, D.FLOAT8E5M2):
            zero = "none" if storage.kind == "float" else "odd"
            for scale in (*real, *((D.FLOAT8E8M0,) if opset >= 24 else ())):
                for out in real:
                    if opset == 23 or scale is not out:
                        yield (
                            f"dq-output-dtype/{storage}-{scale}-{out}",
                            opset,
                            partial(dq, storage=storage, scale=scale, out=out, zero=zero, output_dtype=out.code),
                        )
    for opset in (21, 23, 25):
        for storage in (D.INT8, D.UINT8, D.INT16, D.INT4, D.UINT4):
            yield (
                f"q-output-dtype/{storage}-none",
                opset,
                partial(q, storage=storage, x=D.FLOAT, scale=D.FLOAT, zero="none", output_dtype=storage.code),
            )
            yield (
                f"q-output-dtype/{storage}-zero",
                opset,
                partial(q, storage=storage, x=D.FLOAT, scale=D.FLOAT, zero="odd", output_dtype=storage.code),
            )
        yield "q-output-dtype-0/uint8", opset, partial(q, storage=D.UINT8, x=D.FLOAT, scale=D.FLOAT, zero="none", output_dtype=0)


def idle() -> Iterator[tuple[str, int, Drawer]]:
    """Attributes written although they change nothing."""
    for opset in (21, 23, 28):
        yield "block-size-0/dq", opset, partial(dq, storage=D.INT8, scale=D.FLOAT, out=D.FLOAT, block_size=0)
        yield "block-size-0/q", opset, partial(q, storage=D.INT8, x=D.FLOAT, scale=D.FLOAT, block_size=0)
        yield "block-size-0/dq-int4", opset, partial(dq, storage=D.INT4, scale=D.FLOAT, out=D.FLOAT, block_size=0)
    for opset in (13, 19, 21, 28):
        for axis in (0, -1, 1):
            yield f"axis-on-scalar/{axis}", opset, partial(dq, storage=D.INT8, scale=D.FLOAT, out=D.FLOAT, axis=axis)
    for opset in (10, 13, 21, 28):
        yield "default-axis-out-of-range/rank1", opset, partial(dq, storage=D.INT8, scale=D.FLOAT, out=D.FLOAT, shape=(5,))
        yield "default-axis-out-of-range/rank0", opset, partial(dq, storage=D.INT8, scale=D.FLOAT, out=D.FLOAT, shape=())
    for opset in (23, 25):
        yield "precision-0/int8", opset, partial(q, storage=D.INT8, x=D.FLOAT, scale=D.FLOAT, precision=0)
        yield "output-dtype-0/int8", opset, partial(dq, storage=D.INT8, scale=D.FLOAT, out=D.FLOAT, output_dtype=0)


def integer_x() -> Iterator[tuple[str, int, Drawer]]:
    for opset in (10, 13, 23, 28):
        for storage in (D.INT8, D.UINT8):
            yield f"int32-x/{storage}", opset, partial(q, storage=storage, x=D.INT32, scale=D.FLOAT, zero="odd")
    for opset in (23, 25):
        yield "int32-x/int16", opset, partial(q, storage=D.INT16, x=D.INT32, scale=D.FLOAT, zero="odd")
        yield "int32-x/float16-scale", opset, partial(q, storage=D.INT8, x=D.INT32, scale=D.FLOAT16, zero="odd")


def all_codes(d: Draft, storage: ElementType, scale: float) -> None:
    """Every code of a type, negative zero, infinities and NaN among them, times one scale."""
    bits = np.arange(1 << storage.bits)
    array = bits.astype(np.uint8).view(storage.numpy) if storage.kind == "float" else (bits + int(storage.low)).astype(storage.numpy)
    d.output(d.dequantize(d.constant("weight", array), d.constant("scale", np.float32(scale))), D.FLOAT, array.shape)


def edge_values() -> Iterator[tuple[str, int, Drawer]]:
    from tests.graphs.params import SINCE

    for storage, since in SINCE.items():
        if storage.bits <= 8:
            for scale in (0.1, 2.0**-5, 1e-40, 2.0**-126, 3e38, -0.25):
                yield f"all-codes/{storage}-{scale}", max(since, 13), partial(all_codes, storage=storage, scale=scale)


def cases() -> list[Case]:
    """Every row of this file."""
    rows = [r for table in (saturate, precision, output_dtype, idle, integer_x, edge_values) for r in table()]
    return [Case(f"{label}@{opset}", label.split("/")[0], opset, (draw.func.__doc__ or "").strip(), draw) for label, opset, draw in rows]
