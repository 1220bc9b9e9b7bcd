"""The grids: each form over storage type x granularity x scale type x zero point x opset, thinned to a covering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from qdqtool import dtypes as D
from tests.graphs import params as P
from tests.graphs.case import Case
from tests.graphs.draft import RELEASE_IR, Draft, accepts
from tests.graphs.params import Params


@dataclass(frozen=True, slots=True)
class Grid:
    """A form, the cells where it is legal, which fields of a cell are combined, and how it is drawn."""

    form: str
    note: str
    legal: Callable[[Params], bool]
    groups: tuple[tuple[str, ...], ...]
    draw: Callable[[Draft, Params], None]


def _codes_out(d: Draft, p: Params) -> None:
    shape = p.granularity.shape
    y = P.quantize(d, p, d.input("x", p.real, shape), shape)
    d.output(y, p.storage, shape)


def _codes_cast(d: Draft, p: Params) -> None:
    shape = p.granularity.shape
    y = P.quantize(d, p, d.input("x", p.real, shape), shape)
    d.output(d.node("Cast", [y], to=D.FLOAT.code), D.FLOAT, shape)


def _constant(d: Draft, p: Params) -> None:
    shape = p.granularity.shape
    q = d.constant("weight", P.codes(d, p.storage, shape))
    d.output(P.dequantize(d, p, q, shape), p.real, shape)


def _input(d: Draft, p: Params) -> None:
    shape = p.granularity.shape
    d.output(P.dequantize(d, p, d.input("codes_in", p.storage, shape), shape), p.real, shape)


def _pair(d: Draft, p: Params) -> None:
    shape = p.granularity.shape
    by = P.operands(d, p, shape)
    q = P.quantize(d, p, d.input("x", p.real, shape), shape, by)
    d.output(P.dequantize(d, p, q, shape, by), p.real, shape)


def _real_weight(d: Draft, p: Params, shape: Sequence[int]) -> str:
    return P.dequantize(d, p, d.constant("weight", P.codes(d, p.storage, shape)), shape)


def _matmul(d: Draft, p: Params) -> None:
    k, n = p.granularity.shape
    w = _real_weight(d, p, (k, n))
    d.output(d.node("MatMul", [d.input("x", p.real, ("N", k)), w]), p.real, ("N", n))


def _gemm(d: Draft, p: Params) -> None:
    n, k = p.granularity.shape
    w = _real_weight(d, p, (n, k))
    bias = d.constant("bias", d.rng.integers(-8, 8, n).astype(p.real.numpy))
    d.output(d.node("Gemm", [d.input("x", p.real, (2, k)), w, bias], transB=1), p.real, (2, n))


def _conv(d: Draft, p: Params) -> None:
    m, c = p.granularity.shape[:2]
    w = _real_weight(d, p, (m, c, 2, 2) if p.granularity.axis != -1 else (m, c, 1, 6))
    size = 2 if p.granularity.axis != -1 else 1
    d.output(d.node("Conv", [d.input("x", p.real, (1, c, 4, 6)), w]), p.real, (1, m, 5 - size, 7 - (2 if size == 2 else 6)))


def _network(d: Draft, p: Params) -> None:
    """Q-DQ, DQ weight, DQ int32 bias, Conv, Q-DQ; the activations per tensor, in float32."""
    m, c = 3, 2
    act = Params(p.opset, p.domain, p.storage, "scalar", p.scale, p.zero if p.zero != "none" else "zero")
    tame = 2.0**-6 if p.storage.bits == 16 else 1.0  # no float16 infinities, hence no NaN for the second QuantizeLinear
    by = P.operands(d, act, (), "act_", tame)
    x = d.input("x", p.real, (1, c, 4, 4))
    real = P.dequantize(d, act, P.quantize(d, act, x, (), by), (), by)
    q = d.constant("weight", P.codes(d, p.storage, (m, c, 2, 2)))
    w = P.dequantize(d, p, q, (m, c, 2, 2), P.operands(d, p, (m, c, 2, 2), "weight_", tame))
    bias = d.constant("bias", d.rng.integers(-500, 500, m).astype(np.int32))
    b = d.dequantize(bias, d.constant("bias_scale", P.scales(d, p.scale, ())))
    y = d.node("Conv", [real, w, b])
    out = P.operands(d, act, (), "out_")
    d.output(P.dequantize(d, act, P.quantize(d, act, y, (), out), (), out), p.real, (1, m, 3, 3))


def _transposed(d: Draft, p: Params, q: str, shape: Sequence[int], values: P.Operands, source: Params) -> None:
    """Reverse the axes of the codes and dequantize with the parameters reversed."""
    rank = len(shape)
    moved = d.node("Transpose", [q], perm=list(range(rank))[::-1])
    axis = source.granularity.axis
    scale, zero = values.scale, values.zero
    if source.granularity.block:
        arrays = {t.name: t for t in d.initializers}
        scale, zero = (_reversed(d, arrays[n]) if n else "" for n in (scale, zero))
    attributes: dict[str, Any] = dict(P.grain_attributes(source))
    if axis is not None or source.granularity.per_default_axis:
        attributes["axis"] = rank - 1 - (1 if axis is None else axis % rank)
    if source.scale is D.FLOAT8E8M0:
        attributes["output_dtype"] = D.FLOAT.code
    d.output(d.dequantize(moved, scale, zero, **attributes), source.real, tuple(shape)[::-1])


def _reversed(d: Draft, tensor: Any) -> str:
    from onnx import numpy_helper

    array = numpy_helper.to_array(tensor)
    return d.constant(f"{tensor.name}_reversed", np.ascontiguousarray(array.transpose()))


def _quantize_move(d: Draft, p: Params) -> None:
    shape = p.granularity.shape
    by = P.operands(d, p, shape)
    _transposed(d, p, P.quantize(d, p, d.input("x", p.real, shape), shape, by), shape, by, p)


def _constant_move(d: Draft, p: Params) -> None:
    shape = p.granularity.shape
    q = d.constant("weight", P.codes(d, p.storage, shape))
    _transposed(d, p, q, shape, P.operands(d, p, shape), p)


def _quantize_reshape(d: Draft, p: Params) -> None:
    shape = p.granularity.shape
    by = P.operands(d, p, shape)
    q = P.quantize(d, p, d.input("x", p.real, shape), shape, by)
    flat = d.node("Reshape", [q, d.integers("flat", [-1])])
    d.output(P.dequantize(d, p, flat, (), by), p.real, (int(np.prod(shape)),))


def _constant_reshape(d: Draft, p: Params) -> None:
    shape = p.granularity.shape
    q = d.constant("weight", P.codes(d, p.storage, (int(np.prod(shape)),)))
    d.output(P.dequantize(d, p, d.node("Reshape", [q, d.integers("to", shape)]), shape), p.real, shape)


def _moves(op: str, p: Params) -> bool:
    return accepts(op, p.storage, p.opset)


def _all(*conditions: Callable[[Params], bool]) -> Callable[[Params], bool]:
    return lambda p: all(c(p) for c in conditions)


def _grains(*names: str) -> Callable[[Params], bool]:
    return lambda p: p.grain in names


def _runs(op: str) -> Callable[[Params], bool]:
    return lambda p: accepts(op, p.real, p.opset)


def _casts(p: Params) -> bool:
    return accepts("Cast", p.storage, p.opset)


def _byte_int(p: Params) -> bool:
    return p.storage.integer and p.storage is not D.INT32


_transposes, _reshapes = partial(_moves, "Transpose"), partial(_moves, "Reshape")
_quantizes = P.can_quantize

GRIDS = (
    Grid("q-codes", "QuantizeLinear, codes as graph output", _quantizes, P.PAIRS, _codes_out),
    Grid("q-cast", "QuantizeLinear, codes cast to float32", _all(_quantizes, _casts), P.PAIRS, _codes_cast),
    Grid("dq-constant", "DequantizeLinear of a constant", P.legal, P.THREES, _constant),
    Grid("dq-input", "DequantizeLinear of graph-input codes", P.legal, P.PAIRS, _input),
    Grid("pair", "QuantizeLinear and DequantizeLinear with the same parameters", _quantizes, P.PAIRS, _pair),
    Grid("dq-matmul", "dequantized weight into MatMul", _all(_grains(*P.MATRIX), _runs("MatMul")), P.PAIRS, _matmul),
    Grid("dq-gemm", "dequantized weight into Gemm", _all(_grains(*P.MATRIX), _runs("Gemm")), P.PAIRS, _gemm),
    Grid("dq-conv", "dequantized weight into Conv", _all(_grains(*P.KERNEL), _runs("Conv")), P.PAIRS, _conv),
    Grid(
        "qdq-conv",
        "quantized Conv with int32 bias",
        _all(_byte_int, _quantizes, _grains("scalar", "axis0"), _runs("Conv"), lambda p: p.scale is not D.FLOAT8E8M0),
        P.PAIRS,
        _network,
    ),
    Grid("q-transpose-dq", "codes move between the nodes of a pair", _all(_quantizes, _transposes), P.PAIRS, _quantize_move),
    Grid(
        "q-reshape-dq",
        "codes change shape between the nodes of a pair",
        _all(_quantizes, _reshapes, _grains("scalar", "ones")),
        P.PAIRS,
        _quantize_reshape,
    ),
    Grid("constant-transpose-dq", "constant codes transposed, then dequantized", _transposes, P.PAIRS, _constant_move),
    Grid("constant-reshape-dq", "constant codes reshaped, then dequantized", _reshapes, P.PAIRS, _constant_reshape),
)


def cases() -> list[Case]:
    """Every grid's covering."""
    cells = P.all_params()
    return [_case(grid, p) for grid in GRIDS for p in P.covering([c for c in cells if grid.legal(c)], grid.groups)]


def _case(grid: Grid, p: Params) -> Case:
    return Case(
        f"{grid.form}/{p.label}",
        grid.form,
        p.opset,
        grid.note,
        partial(_draw, grid.draw, p),
        domain=p.domain,
        ir=max(RELEASE_IR[p.opset], p.storage.ir),
    )


def _draw(draw: Callable[[Draft, Params], None], p: Params, d: Draft) -> None:
    draw(d, p)
