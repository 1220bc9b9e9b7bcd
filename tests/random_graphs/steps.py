"""One more node: a step, or one that moves elements."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st
from onnx import helper

from tests.random_graphs.body import REALS, Body, Grid, Value

CODES = tuple(np.dtype(t) for t in (np.int8, np.uint8, np.int16, np.uint16, ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.float8_e4m3fn))
SCALES = (0.5, 0.1, 0.0123, -0.03, 1.0, 3e-5, 6e4)
"""The last two lose or overflow codes on the way there and back, in float16 at least."""


def scale(body: Body, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Value:
    """Stored, or made of stored ones by arithmetic that can be done beforehand."""
    numbers = np.asarray([body.pick(SCALES) for _ in range(prod(shape))], np.float32)
    if body.number(0, 3) == 0:
        numbers[:] = numbers[:1]
    stored = body.constant(numbers.reshape(shape).astype(dtype))
    match body.number(0, 7):
        case 0:
            return body.node("Mul", [stored, body.constant(np.full((), 0.5, dtype))], dtype, shape)
        case 1:
            other = REALS[1 - REALS.index(dtype)]
            wide = body.node("Cast", [stored], other, shape, to=helper.np_dtype_to_tensor_dtype(other))
            return body.node("Cast", [wide], dtype, shape, to=helper.np_dtype_to_tensor_dtype(dtype))
        case 2:
            return body.node("Identity", [stored], dtype, shape)
        case 3 if len(shape) == 1:
            flat = body.node("Unsqueeze", [stored, body.constant(np.asarray([0], np.int64))], dtype, (1, *shape))
            return body.node("Reshape", [flat, body.constant(np.asarray(shape, np.int64))], dtype, shape)
        case _:
            return stored


def grid(body: Body, shape: tuple[int, ...], dtype: np.dtype[Any], codes: np.dtype[Any]) -> Grid:
    """New parameters for a tensor, or those of an earlier step that fit it."""
    known = [g for g in body.grids if g.codes == codes and g.scale.dtype == dtype and (not g.scale.shape or g.shape == shape)]
    if known and body.number(0, 2):
        return body.pick(known)
    axis = body.number(0, max(len(shape) - 1, 0))
    kind = body.pick(("tensor", "axis", "block")) if shape else "tensor"
    blocked = kind == "block" and shape[axis] % 2 == 0 and prod(shape) > 2  # one scale with a block_size is refused by ONNX Runtime
    of = tuple(n // 2 if i == axis else n for i, n in enumerate(shape)) if blocked else (shape[axis],) if kind == "axis" else ()
    attributes = (("axis", axis), ("block_size", 2)) if blocked else (("axis", axis),) if kind == "axis" else ()
    zero = (
        None
        if codes.name == "int32" or body.number(0, 1)
        else body.constant(body.array(codes, of) if "int" in codes.name else np.zeros(of, codes))
    )
    if zero is None and codes != np.dtype(np.uint8):
        zero = body.constant(np.zeros(of, codes))
    made = Grid(codes, scale(body, dtype, of), zero, shape, attributes)
    body.grids.append(made)
    return made


def quantize(body: Body, value: Value) -> Value:
    g = grid(body, value.shape, value.dtype, body.pick(CODES))
    return body.node("QuantizeLinear", [value, g.scale, g.zero], g.codes, value.shape, **dict(g.attributes))


def dequantize(body: Body, value: Value) -> Value:
    g = grid(body, value.shape, body.pick(REALS), value.dtype)
    return body.node("DequantizeLinear", [value, g.scale, g.zero], g.scale.dtype, value.shape, **dict(g.attributes))


def transpose(body: Body, value: Value) -> Value:
    order = body.draw(st.permutations(range(len(value.shape))))
    return body.node("Transpose", [value], value.dtype, [value.shape[i] for i in order], perm=order)


def reshape(body: Body, value: Value) -> Value:
    shape = body.pick(((prod(value.shape),), (2, -1), (-1, 2)) if prod(value.shape) % 2 == 0 else ((-1,), (1, -1)))
    rest = prod(value.shape) // abs(prod(shape))
    known = [rest if n == -1 else n for n in shape]
    return body.node("Reshape", [value, body.constant(np.asarray(shape, np.int64))], value.dtype, known)


def squeeze(body: Body, value: Value) -> Value:
    axis = body.constant(np.asarray([0], np.int64))
    if len(value.shape) > 1 and value.shape[0] == 1:
        return body.node("Squeeze", [value, axis], value.dtype, value.shape[1:])
    return body.node("Unsqueeze", [value, axis], value.dtype, (1, *value.shape))


def flatten(body: Body, value: Value) -> Value:
    axis = body.number(0, len(value.shape))
    return body.node("Flatten", [value], value.dtype, (prod(value.shape[:axis]), prod(value.shape[axis:])), axis=axis)


def gather(body: Body, value: Value) -> Value:
    axis = body.number(0, len(value.shape) - 1)
    chosen = [body.number(0, value.shape[axis] - 1) for _ in range(body.pick((2, 4)))]
    shape = [len(chosen) if i == axis else n for i, n in enumerate(value.shape)]
    return body.node("Gather", [value, body.constant(np.asarray(chosen, np.int64))], value.dtype, shape, axis=axis)


def cut(body: Body, value: Value) -> Value:
    axis = body.number(0, len(value.shape) - 1)
    if value.shape[axis] < 4:
        return body.node("Identity", [value], value.dtype, value.shape)
    start = body.number(0, 2)
    shape = [2 if i == axis else n for i, n in enumerate(value.shape)]
    ends = [body.constant(np.asarray([n], np.int64)) for n in (start, start + 2, axis)]
    return body.node("Slice", [value, *ends], value.dtype, shape)


def concat(body: Body, value: Value) -> Value:
    axis = body.number(0, len(value.shape) - 1)
    partner = body.pick([v for v in body.values if v.dtype == value.dtype and v.shape == value.shape])
    shape = [2 * n if i == axis else n for i, n in enumerate(value.shape)]
    return body.node("Concat", [value, partner], value.dtype, shape, axis=axis)


def relu(body: Body, value: Value) -> Value:
    return body.node("Relu", [value], value.dtype, value.shape)


MOVES: tuple[Callable[[Body, Value], Value], ...] = (transpose, reshape, squeeze, flatten, gather, cut, concat)
STILL = {np.dtype(t) for t in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.float8_e4m3fn)}
"""Codes that ONNX Runtime does not move."""


def step(body: Body) -> None:
    """One more node on a value that is there."""
    value = body.pick(body.values)
    if prod(value.shape) > 64 or not value.shape:
        return
    if value.real:
        body.pick((quantize, quantize, relu, *MOVES))(body, value)
    elif value.dtype in STILL:
        dequantize(body, value)
    else:
        body.pick((dequantize, dequantize, dequantize, *MOVES))(body, value)
