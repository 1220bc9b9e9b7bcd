"""A plain operator between dequantize and quantize as an integer one, where ONNX Runtime's CPU kernels take its types."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from qdqtool import dtypes, packed
from qdqtool.dialects import Asking, Impossible, Saying, Way
from qdqtool.dialects.qoperator.forms import DOMAIN, FORMS, RELU, SUM, channels
from qdqtool.dialects.qoperator.patterns import Pattern, attributes_of, pattern
from qdqtool.dtypes import ElementType
from qdqtool.exactness import Exactness
from qdqtool.expressions import Const, Expr, Op, Step, is_const, literal, reshape
from qdqtool.integers import ONE, Unsayable, product
from qdqtool.quantization import Meaning, PerAxis, PerTensor

U8, I8 = dtypes.UINT8, dtypes.INT8

PRODUCTS: Mapping[str, tuple[tuple[ElementType, ElementType, ElementType], ...]] = dict.fromkeys(
    ("QLinearConv", "QLinearMatMul", "QGemm"), ((U8, U8, U8), (U8, I8, U8), (I8, I8, I8))
)
"""Types of both operands and of the result in the kernels of products; all others take one type throughout."""


def fuse(expr: Expr, asking: Asking) -> Saying | Impossible | None:
    found = pattern(expr)
    if found is None:
        return None
    try:
        return _fused(found, expr, asking)
    except Unsayable as reason:
        return Impossible((str(reason),))


def _fused(found: Pattern, expr: Expr, asking: Asking) -> Saying:
    form, name = FORMS[found.name], found.name
    attributes = attributes_of(found, asking.opset)
    domain = DOMAIN if found.last else form.domain
    blank = Op(name, (), attributes, U8, None, domain)
    free, quantized, bias = _operands(found)
    steps = [_dequantized(name, x, channels(blank, number) if number else None) for number, x in enumerate(quantized)]
    _fit(name, steps, found.given, asking)
    if found.relu and not _cuts(found.given, asking):
        raise Unsayable("its Relu cuts what its zero point would not")
    inputs: list[Expr | None] = [*free, *(part for step in steps for part in _parts(step))]
    given = [] if found.given is None else _parts(found.given)[1:]
    if name == "QLinearConcat":
        inputs = [*given, *inputs]
    else:
        codes = None if bias is None else _bias(bias, steps, dict(attributes).get("alpha", 1.0), asking)
        inputs += [codes, *given] if name == "QGemm" else [*given, codes]
    while inputs[-1] is None:
        inputs.pop()
    assert expr.dtype is not None
    op = Op(name, tuple(inputs), attributes, expr.dtype, expr.shape, domain)
    bound = SUM if found.given is None else form.bound
    said = steps[1].meaning if form.weighted else (found.given or steps[0]).meaning
    return Saying((Way(op, Exactness.ROUNDING if bound else Exactness.BIT_EQUAL, bound),), said, ((RELU, "1" if found.relu else None),))


def _operands(found: Pattern) -> tuple[list[Expr | None], list[Expr | None], Expr | None]:
    """Those that are as they are, those that are quantized, and the bias."""
    operands, count = list(found.operands), len(FORMS[found.name].reads)
    if found.name == "QLinearConcat":
        return [], operands, None
    if found.name == "QLinearWhere":
        return operands[:1], operands[1:], None
    return [], operands[:count], operands[count] if len(operands) > count else None


def _dequantized(name: str, x: Expr | None, axis: int | None) -> Step:
    """An operand, which must be dequantized from bytes, by one scale or by one for each channel."""
    if not isinstance(x, Step) or x.meaning.kind != "dequantize":
        raise Unsayable(f"an operand of its {FORMS[name].plain} is not dequantized")
    said = x.meaning
    if said.storage not in (U8, I8):
        raise Unsayable(f"{name} takes no {said.storage}")
    _real(said)
    own = None if axis is None or x.x.shape is None else axis % max(1, len(x.x.shape))
    if said.granularity not in (PerTensor(), None if own is None else PerAxis(own)):
        raise Unsayable(f"{name} has no operand quantized {said.granularity or 'by scales of unknown rank'}")
    return x


def _real(said: Meaning) -> None:
    if said.expressed is not dtypes.FLOAT or said.scale_type is not dtypes.FLOAT:
        raise Unsayable(f"its real values or scales are {said.expressed} and {said.scale_type}, not float32")


def _fit(name: str, steps: list[Step], given: Step | None, asking: Asking) -> None:
    """The types of its kernels."""
    if given is not None:
        _real(given.meaning)
        if given.meaning.granularity != PerTensor():
            raise Unsayable(f"{name} gives nothing quantized {given.meaning.granularity}")
    result = steps[0].meaning.storage if given is None else given.meaning.storage
    types = (*(step.meaning.storage for step in steps), result)
    fitting = types in PRODUCTS[name] if name in PRODUCTS else len(set(types)) == 1
    if not fitting:
        raise Unsayable(f"ONNX Runtime has no {name} of {' and '.join(map(str, types[:-1]))} to {result}")
    zero = steps[1].zero_point if name == "QLinearConv" else None
    if zero is not None and zero.shape not in ONE and not (is_const(zero) and len(set(asking.fact("value_range", zero))) == 1):
        raise Unsayable("the zero points of its weights differ, and QLinearConv takes one for all")


def _cuts(given: Step | None, asking: Asking) -> bool:
    """Whether a quantize turns all that is negative into the code of 0."""
    if given is None or given.meaning.storage is None or not is_const(given.scale) or asking.fact("value_range", given.scale)[0] <= 0:
        return False
    zero, low = given.zero_point, given.meaning.storage.low
    return low == 0 if zero is None else is_const(zero) and asking.fact("value_range", zero) == (low, low)


def _parts(step: Step) -> tuple[Expr | None, ...]:
    """Codes, scale and zero point."""
    scale, zero, storage = step.scale, step.zero_point, step.meaning.storage
    assert storage is not None
    if step.meaning.granularity == PerTensor():
        return step.x, reshape(scale, ()), literal(0, storage) if zero is None else reshape(zero, ())
    if zero is None and not is_const(scale):
        raise Unsayable("its scales are of the run, and it has no zero points")
    return step.x, scale, packed.repeated(literal(0, storage), scale.shape) if zero is None and is_const(scale) else zero


def _bias(bias: Expr, steps: list[Step], alpha: object, asking: Asking) -> Expr:
    """Its codes, whose scale must be that of the sums."""
    scale = product(steps[0].scale, steps[1].scale)
    if isinstance(alpha, float) and alpha != 1.0:
        scale = product(product(steps[0].scale, literal(alpha, dtypes.FLOAT)), steps[1].scale)
    if not isinstance(bias, Step) or bias.meaning.storage is not dtypes.INT32:
        raise Unsayable("its bias is not dequantized from int32")
    if bias.meaning.granularity not in (PerTensor(), PerAxis(len(bias.x.shape or (0,)) - 1)):
        raise Unsayable(f"its bias is quantized {bias.meaning.granularity}")
    if bias.zero_point is not None and not (is_const(bias.zero_point) and asking.fact("value_range", bias.zero_point) == (0.0, 0.0)):
        raise Unsayable("its bias has a zero point")
    if not (is_const(scale) and is_const(bias.scale) and _equal(scale, bias.scale, asking)):
        raise Unsayable("the scale of its bias is not the product of the other two")
    return bias.x


def _equal(wanted: Const, given: Const, asking: Asking) -> bool:
    """Whether the scales are the same bits, or one of them for all."""
    one, other = (asking.fact("numbers", each).reshape(-1) for each in (wanted, given))
    return bool(np.array_equal(one, other) or (1 in (one.size, other.size) and np.all(one == other)))
