"""An integer operator as a plain one between dequantize and quantize."""

from __future__ import annotations

from dataclasses import replace

from qdqtool.dialects import Asking, Impossible, Saying, Way
from qdqtool.dialects.qoperator import floating
from qdqtool.dialects.qoperator.forms import FORMS, RELU, SUM, Slots, channels, reads
from qdqtool.dialects.qoperator.plain import results
from qdqtool.expressions import Expr, Op, Runtime, Step, literal
from qdqtool.integers import Unsayable, bias, dequantized, product, quantized
from qdqtool.quantization import Meaning


def split(op: Op, asking: Asking) -> Saying | Impossible:
    try:
        if op.op in floating.SPLIT:
            return floating.SPLIT[op.op](op, exact=asking.exact)
        return _split(op, asking)
    except Unsayable as reason:
        return Impossible((str(reason),))


def _split(op: Op, asking: Asking) -> Saying:
    form = FORMS[op.op]
    steps = [step_of(op, slots, number) for number, slots in enumerate(reads(op))]
    if not steps:
        raise Unsayable("it joins nothing")
    operands: list[Expr] = [*(_operand(op, slot, "condition") for slot in form.free), *steps]
    if form.bias is not None and (codes := operand(op, form.bias)) is not None:
        operands.append(bias(codes, _of_sums(op, steps)))
    said: Meaning = steps[-1].meaning
    ways = []
    for plain in results(op, operands, asking.goal):
        result = plain if asking.remark(RELU) is None else _cut(plain)
        scale = None if form.gives is None else operand(op, form.gives[0])
        if scale is None or form.gives is None:
            ways.append(Way(result, form.exactness, SUM))
            continue
        zero = operand(op, form.gives[1])
        if zero is not None and zero.dtype not in (None, *(step.meaning.storage for step in steps)):
            raise Unsayable(f"its result is {zero.dtype}, which none of its operands is")
        step = quantized(result, scale, zero, op.dtype)
        said = said if form.weighted else step.meaning
        ways.append(Way(step, form.exactness, form.bound))
    return Saying(tuple(ways), said, ((RELU, None),))


def _cut(plain: Expr) -> Op:
    """Before its Relu was left out."""
    assert plain.dtype is not None
    return Op("Relu", (plain,), (), plain.dtype, plain.shape)


def _of_sums(op: Op, steps: list[Step]) -> Expr:
    """The scale of what the products are added up to."""
    alpha, scale = dict(op.attributes).get("alpha", 1.0), steps[0].scale
    if isinstance(alpha, float) and alpha != 1.0 and steps[0].scale.dtype is not None:
        scale = product(scale, literal(alpha, steps[0].scale.dtype))
    return product(scale, steps[1].scale)


def operand(op: Op, slot: int) -> Expr | None:
    return op.inputs[slot] if slot < len(op.inputs) else None


def _operand(op: Op, slot: int, what: str) -> Expr:
    found = operand(op, slot)
    if found is None:
        raise Unsayable(f"it has no {what}")
    return found


def step_of(op: Op, slots: Slots, number: int) -> Step:
    """One of its quantized operands."""
    x, scale, zero = (operand(op, slot) for slot in slots)
    if x is None or scale is None:
        raise Unsayable("an operand or its scale is missing")
    if isinstance(x, Runtime) and x.dtype is None and zero is None and op.op in ("QLinearConcat", "QLinearWhere"):
        x = replace(x, dtype=op.dtype)
    return dequantized(x, scale, zero, channels(op, number))
