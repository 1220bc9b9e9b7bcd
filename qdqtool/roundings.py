"""Ways to round to an integer, in plain arithmetic that is exact for every finite float32.

QuantizeLinear rounds half to even only; nGraph and QONNX know the others. The fraction is compared with one half, never moved by it:
``floor(v + 0.5)`` in float32 gives 1 for 0.49999997. ``v - floor(v)`` is exact, or greater than one half anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from qdqtool import dtypes, phrases
from qdqtool.expressions import Expr, Op, binary, literal
from qdqtool.quantization import Rounding


def rounded(x: Expr, rounding: Rounding, opset: int) -> Expr:
    """`x` of float32 rounded; "half even" below opset 11 for magnitudes below 2**22 only, those that use the sign from opset 9 on."""
    return phrases.round_even(x, opset) if rounding == "half even" else _OTHERS[rounding](x)


def _unary(op: str, x: Expr) -> Op:
    return Op(op, (x,), (), dtypes.FLOAT, x.shape)


def _floor(x: Expr) -> Op:
    return _unary("Floor", x)


def _ceil(x: Expr) -> Op:
    return _unary("Ceil", x)


def _half_up(x: Expr) -> Op:
    floor = _floor(x)
    return binary("Add", floor, _at_least_half(binary("Sub", x, floor)))


def _half_down(x: Expr) -> Op:
    ceil = _ceil(x)
    return binary("Sub", ceil, _at_least_half(binary("Sub", ceil, x)))


def _at_least_half(fraction: Expr) -> Expr:
    """1 where it is, else 0."""
    less = Op("Less", (fraction, literal(0.5, dtypes.FLOAT)), (), dtypes.BOOL, fraction.shape)
    return Op("Cast", (Op("Not", (less,), (), dtypes.BOOL, fraction.shape),), (("to", dtypes.FLOAT.code),), dtypes.FLOAT, fraction.shape)


def _by_size(size: Callable[[Expr], Op]) -> Callable[[Expr], Op]:
    """The same towards zero, or away from it, on both sides."""
    return lambda x: binary("Mul", _unary("Sign", x), size(_unary("Abs", x)))


_OTHERS: Mapping[Rounding, Callable[[Expr], Op]] = {
    "half up": _half_up,
    "half down": _half_down,
    "half away": _by_size(_half_up),
    "half to zero": _by_size(_half_down),
    "up": _ceil,
    "down": _floor,
    "away": _by_size(_ceil),
    "to zero": _by_size(_floor),
}
