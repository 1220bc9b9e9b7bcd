"""Products of integers that give real numbers: MatMulIntegerToFloat, and DynamicQuantizeMatMul, which quantizes its input itself.

With ``--exact`` the product stays one of integers, scaled afterwards as the kernels do; else it is one of dequantized operands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from qdqtool import dtypes
from qdqtool.dialects import Saying, Way
from qdqtool.dialects.qoperator.forms import SUM
from qdqtool.exactness import Exactness
from qdqtool.expressions import Expr, Op, Shape, Step, binary
from qdqtool.integers import Unsayable, dequantized, integer_product, scaled


def _to_float(op: Op, *, exact: bool) -> Saying:
    a, b, a_scale, b_scale, a_zero, b_zero, bias, *_ = (*op.inputs, *(None,) * 7)
    return _product(op, (a, a_scale, a_zero), (b, b_scale, b_zero), bias, exact=exact)


def _from_float(op: Op, *, exact: bool) -> Saying:
    x, b, b_scale, b_zero, bias, *_ = (*op.inputs, *(None,) * 5)
    if x is None:
        raise Unsayable("it multiplies nothing")
    return _product(op, dynamic(x), (b, b_scale, b_zero), bias, exact=exact)


SPLIT: Mapping[str, Callable[..., Saying]] = {"MatMulIntegerToFloat": _to_float, "DynamicQuantizeMatMul": _from_float}


def dynamic(x: Expr) -> tuple[Op, Op, Op]:
    """Codes, scale and zero point that the run finds for `x`."""

    def result(number: int, dtype: dtypes.ElementType, shape: Shape | None) -> Op:
        return Op("DynamicQuantizeLinear", (x,), (), dtype, shape, "", number, 3)

    return result(0, dtypes.UINT8, x.shape), result(1, dtypes.FLOAT, ()), result(2, dtypes.UINT8, ())


def _product(op: Op, a: tuple[Expr | None, ...], b: tuple[Expr | None, ...], bias: Expr | None, *, exact: bool) -> Saying:
    (x, x_scale, x_zero), (y, y_scale, y_zero) = a, b
    if x is None or x_scale is None or y is None or y_scale is None:
        raise Unsayable("an operand or its scale is missing")
    left, right = dequantized(x, x_scale, x_zero, None), dequantized(y, y_scale, y_zero, -1)
    result = _integers(left, right, op.shape) if exact else Op("MatMul", (left, right), (), op.dtype, op.shape)
    whole = result if bias is None else binary("Add", result, bias)
    way = Way(whole) if exact else Way(whole, Exactness.ROUNDING, SUM)
    return Saying((way,), right.meaning)


def _integers(left: Step, right: Step, shape: Shape | None) -> Op:
    return scaled(integer_product("MatMulInteger", left, right, (), shape), left, right)
