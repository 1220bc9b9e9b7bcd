"""The plain operator inside an integer one, on real operands; where opsets spell it in two ways, both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from qdqtool import dtypes
from qdqtool.dialects.qoperator.forms import FORMS, integer
from qdqtool.expressions import Attribute, Expr, Op, known, literal, reshape
from qdqtool.integers import Unsayable

Build = Callable[[Op, Sequence[Expr]], list[Op]]

OWN = ("channels_last", "opset")
"""Attributes that the plain operators have no word for."""


def results(op: Op, operands: Sequence[Expr], goal: int) -> list[Expr]:
    """The ways to say the result of an integer operator on real operands; with channels last, between two Transposes."""
    if op.op == "QLinearSoftmax":
        return [_softmax(op, operands[0], goal)]
    if not integer(op, "channels_last"):
        return list(_built(op, operands))
    inner = [turned(operands[0], _rank(op, operands), last=False), *operands[1:]]
    return [turned(result, _rank(op, operands), last=True) for result in _built(op, inner)]


def _built(op: Op, operands: Sequence[Expr]) -> list[Op]:
    return _BUILT.get(FORMS[op.op].plain, _same)(op, operands)


def turned(x: Expr, rank: int, *, last: bool) -> Op:
    """Channels moved to the end, or back to axis 1."""
    perm = (0, *range(2, rank), 1) if last else (0, rank - 1, *range(1, rank - 1))
    assert x.dtype is not None
    shape = None if x.shape is None else tuple(x.shape[p] for p in perm)
    return Op("Transpose", (x,), (("perm", perm),), x.dtype, shape)


def _rank(op: Op, operands: Sequence[Expr]) -> int:
    kernel, (x, *rest) = dict(op.attributes).get("kernel_shape"), operands
    shape = x.shape if x.shape is not None else rest[0].shape if rest else None
    if shape is None and isinstance(kernel, tuple):
        return len(kernel) + 2
    if shape is None or len(shape) < 3:
        raise Unsayable("its channels are last, and its rank is not known here, or below 3")
    return len(shape)


def _op(op: Op, operands: Sequence[Expr], attributes: Mapping[str, Attribute] | None = None) -> Op:
    given = dict(op.attributes) if attributes is None else attributes
    kept = tuple(sorted((name, value) for name, value in given.items() if name not in OWN))
    real = operands[-1].dtype
    assert real is not None
    shape = None if integer(op, "channels_last") else op.shape
    return Op(FORMS[op.op].plain, tuple(operands), kept, real, shape)


def _same(op: Op, operands: Sequence[Expr]) -> list[Op]:
    return [_op(op, operands)]


def _gemm(op: Op, operands: Sequence[Expr]) -> list[Op]:
    """Without a C, which opsets below 11 require, and with one of zero."""
    found = [_op(op, operands)]
    real = operands[0].dtype
    return found if len(operands) > 2 or real is None else [*found, _op(op, [*operands, literal(0.0, real, (1,))])]


BEYOND = "it counts windows up (ceil_mode) and the padding in (count_include_pad), where ONNX Runtime's two kernels differ"


def counts_beyond(op: Op) -> bool:
    """An average over windows that reach out of the padding, and count what lies there."""
    return bool(integer(op, "ceil_mode") and integer(op, "count_include_pad"))


def _pooled(op: Op, operands: Sequence[Expr]) -> list[Op]:
    if counts_beyond(op):
        raise Unsayable(BEYOND)
    return [_op(op, operands)]


def _joined(op: Op, operands: Sequence[Expr]) -> list[Op]:
    """Its axis counted from the front, as opsets below 11 want it."""
    axis, shape = integer(op, "axis"), operands[0].shape
    return [_op(op, operands, {"axis": axis if not shape or axis >= 0 else axis + len(shape)})]


def _mean(op: Op, operands: Sequence[Expr]) -> list[Op]:
    """With its axes as an attribute, and as an input from opset 18 on."""
    attributes = dict(op.attributes)
    axes = attributes.pop("axes", None)
    plain = _op(op, operands)
    if not isinstance(axes, tuple):
        return [plain]
    return [plain, _op(op, operands, attributes) if not axes else _with_axes(_op(op, operands, attributes), axes)]


def _with_axes(mean: Op, axes: tuple[int | float, ...]) -> Op:
    return Op(mean.op, (*mean.inputs, literal(axes, dtypes.INT64)), mean.attributes, mean.dtype, mean.shape)


def _softmax(op: Op, x: Expr, goal: int) -> Op:
    """Along its axis where the opsets agree; else that axis is moved to the end, or dimensions are flattened as below opset 13."""
    axis, opset = integer(op, "axis", -1), integer(op, "opset", 13)
    rank = None if x.shape is None else len(x.shape)
    if rank is not None and not -rank <= axis < rank:
        raise Unsayable(f"it has no axis {axis}")
    last = axis == -1 or (rank is not None and axis % rank == rank - 1)
    if last or (opset >= 13) == (goal >= 13):
        return _soft(op, x, axis if rank is None else axis % rank)
    if rank is None:
        raise Unsayable("its rank is not known here, nor whether its axis is the last")
    return _moved(op, x, axis % rank, rank) if opset >= 13 else _flat(op, x, axis % rank)


def _soft(op: Op, x: Expr, axis: int) -> Op:
    assert x.dtype is not None
    return Op("Softmax", (x,), (("axis", axis),), x.dtype, x.shape)


def _moved(op: Op, x: Expr, axis: int, rank: int) -> Op:
    perm = tuple(rank - 1 if d == axis else axis if d == rank - 1 else d for d in range(rank))
    assert x.dtype is not None
    assert x.shape is not None
    there = Op("Transpose", (x,), (("perm", perm),), x.dtype, tuple(x.shape[p] for p in perm))
    return Op("Transpose", (_soft(op, there, rank - 1),), (("perm", perm),), x.dtype, x.shape)


def _flat(op: Op, x: Expr, axis: int) -> Op:
    shape = known(x.shape)
    if shape is None or x.dtype is None:
        raise Unsayable("it flattens dimensions that are not known here (opset below 13)")
    flat = Op("Flatten", (x,), (("axis", axis),), x.dtype, (None, None))
    whole = reshape(_soft(op, flat, 1), shape)
    assert isinstance(whole, Op)
    return whole


_BUILT: Mapping[str, Build] = {"Gemm": _gemm, "AveragePool": _pooled, "Concat": _joined, "ReduceMean": _mean}
