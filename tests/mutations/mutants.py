"""Faults planted in lowerings and in what they rest on: how, and a model with a target that lets them show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from qdqtool import dtypes, phrases
from qdqtool.exactness import Exactness
from qdqtool.expressions import Computed, Expr, Literal, Op, Step, Stored, binary, cast, literal, reshape
from qdqtool.kernels import recode
from qdqtool.kernels.sources import ArraySource, materialize
from qdqtool.lowerings import Said, float_grid, lookup
from qdqtool.plan import facts
from qdqtool.quantization import Blocked, PerAxis, PerTensor
from tests.kernels.samples import codes_of
from tests.lowerings.given import Given, dequantize, quantize
from tests.lowerings.models import model_of

Change = Callable[[Expr], Expr]
Plant = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Mutant:
    """A fault: `lowering` is the one whose tests must find it, `given` from `source` to `target` the model that shows it."""

    fault: str
    lowering: str
    plant: Plant
    given: Given
    source: int
    target: int | str
    options: Mapping[str, Any]
    biased: bool = False

    @property
    def name(self) -> str:
        return f"{self.lowering}: {self.fault}"

    def model(self) -> ModelProto:
        made = model_of(self.given, self.source)
        return as_bias(made, self.given) if self.biased else made


def as_bias(made: ModelProto, given: Given) -> ModelProto:
    """With a Gemm that reads the result as its bias."""
    graph, (length,) = made.graph, given.codes.shape
    read = graph.output[0].name
    graph.input.append(helper.make_tensor_value_info("a", TensorProto.FLOAT, [1, 2]))
    graph.initializer.append(numpy_helper.from_array(np.ones((2, length), np.float32), "w"))
    graph.node.append(helper.make_node("Gemm", ["a", "w", read], ["product"]))
    graph.output[0].CopyFrom(helper.make_tensor_value_info("product", TensorProto.FLOAT, [1, length]))
    return made


MUTANTS: list[Mutant] = []


def _mutant(
    fault: str, lowering: str, plant: Plant, given: Given, source: int, target: int | str, *, biased: bool = False, **options: Any
) -> None:
    MUTANTS.append(Mutant(fault, lowering, plant, given, source, target, options, biased))


def says(lowering: str, change: Change, **claims: Any) -> Plant:
    """The lowering says something else."""
    where = f"qdqtool.lowerings.{lowering}.say"

    def plant(patch: pytest.MonkeyPatch) -> None:
        import importlib

        module: Any = importlib.import_module(f"qdqtool.lowerings.{lowering}")
        original = module.say

        def say(step: Step, context: Any) -> Iterator[Said]:
            for said in original(step, context):
                yield replace(said, expr=change(said.expr), **claims)

        patch.setattr(where, say)

    return plant


def hears(lowering: str, change: Callable[[Step], Step]) -> Plant:
    """The lowering is given another step."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        import importlib

        module: Any = importlib.import_module(f"qdqtool.lowerings.{lowering}")
        original = module.say
        patch.setattr(module, "say", lambda step, context: original(change(step), context))

    return plant


def attribute(where: object, name: str, value: Any) -> Plant:
    return lambda patch: patch.setattr(where, name, value)


def item(where: Any, key: Any, value: Any) -> Plant:
    return lambda patch: patch.setitem(where, key, value)


def everywhere(match: Callable[[Expr], bool], change: Change) -> Change:
    """Change every part of an expression that matches, innermost first."""

    def walk(expr: Expr | None) -> Any:
        match expr:
            case Op():
                expr = replace(expr, inputs=tuple(walk(i) for i in expr.inputs))
            case Step():
                expr = replace(expr, x=walk(expr.x), scale=walk(expr.scale), zero_point=walk(expr.zero_point))
            case Computed():
                expr = replace(expr, args=tuple(walk(a) for a in expr.args))
        return change(expr) if expr is not None and test(expr) else expr

    test = match
    return walk


def op(name: str) -> Callable[[Expr], bool]:
    return lambda e: isinstance(e, Op) and e.op == name


def is_step(expr: Expr) -> bool:
    return isinstance(expr, Step)


def first(expr: Expr) -> Expr:
    """An operator's first operand in its place."""
    assert isinstance(expr, Op)
    assert expr.inputs[0] is not None
    return expr.inputs[0]


def without_zero(expr: Expr) -> Expr:
    assert isinstance(expr, Step)
    return replace(expr, zero_point=None)


def computed(kernel: str, arg: Expr, *params: Any) -> Computed:
    assert isinstance(arg, Stored | Literal | Computed)
    return Computed(kernel, (arg,), params, arg.dtype, arg.shape)


def nudge(patch: pytest.MonkeyPatch) -> None:
    """A kernel that adds one ulp."""
    kernel = lambda sources, params: recode.Mapped(sources[0], sources[0].dtype, lambda a: np.nextafter(a, np.float32(np.inf)))  # noqa: E731
    patch.setitem(recode.KERNELS, "nudge", kernel)


def both(*plants: Plant) -> Plant:
    return lambda patch: [plant(patch) for plant in plants] and None


def one_ulp(lowering: str) -> Plant:
    return both(nudge, hears(lowering, lambda step: replace(step, scale=computed("nudge", step.scale))))


def scaled(change: Change) -> Change:
    """Change the scale of the step inside."""
    return everywhere(is_step, lambda e: replace(e, scale=change(e.scale)))  # type: ignore[union-attr,type-var]


F16 = dtypes.FLOAT16
HALF = {"x": F16, "scale": F16, "compute": F16}
ROWS, COLUMNS = Blocked(1, 16), Blocked(0, 16)

# widen
_mutant(
    "Clip left out", "widen", says("widen", everywhere(op("Clip"), first)), quantize(dtypes.INT4, zero=True, carrier=dtypes.INT8), 21, 13
)
_mutant(
    "upper bound one too high",
    "widen",
    says("widen", everywhere(lambda e: isinstance(e, Literal) and e.array == 7, lambda e: literal(8, dtypes.INT8))),
    quantize(dtypes.INT4, zero=True, carrier=dtypes.INT8),
    21,
    13,
)
_mutant(
    "zero point dropped",
    "widen",
    says("widen", everywhere(is_step, without_zero)),
    dequantize(dtypes.INT4, (5, 16), PerAxis(0), zero=True),
    21,
    13,
)
_mutant("scale off by one ulp", "widen", one_ulp("widen"), dequantize(dtypes.UINT4, (5, 16), PerAxis(0), zero=True), 21, 13)

# rows-per-block
COLUMN_BLOCKS = dequantize(dtypes.INT8, (64, 8), COLUMNS, zero=True)
_mutant(
    "blocks not transposed back",
    "rows_per_block",
    says("rows_per_block", everywhere(op("Transpose"), lambda e: reshape(first(e), e.shape))),  # type: ignore[arg-type]
    COLUMN_BLOCKS,
    21,
    13,
)
_mutant(
    "scales not transposed",
    "rows_per_block",
    says(
        "rows_per_block", everywhere(lambda e: isinstance(e, Computed) and e.kernel == "transpose", lambda e: reshape(e.args[0], e.shape))
    ),  # type: ignore[union-attr,arg-type]
    COLUMN_BLOCKS,
    21,
    13,
)
_mutant(
    "wrong axes in the Transpose",
    "rows_per_block",
    says("rows_per_block", everywhere(op("Transpose"), lambda e: replace(e, attributes=(("perm", (0, 2, 3, 1)),)))),  # type: ignore[type-var]
    dequantize(dtypes.INT8, (3, 8, 8, 8), Blocked(1, 4), zero=True),
    21,
    13,
)
_mutant(
    "smaller blocks take the next scale",
    "rows_per_block",
    item(recode.KERNELS, "reblock", lambda s, p: _shifted_reblock(s[0], *p)),
    dequantize(dtypes.INT8, (6, 48), Blocked(1, 32), zero=True),
    21,
    13,
)
_mutant(
    "padding cut off at the front",
    "rows_per_block",
    says("rows_per_block", everywhere(op("Slice"), lambda e: _cut_at_the_front(e))),
    dequantize(dtypes.INT8, (3, 89), Blocked(1, 16), zero=True),
    21,
    13,
)
_mutant(
    "codes regrouped in the wrong order",
    "rows_per_block",
    item(recode.KERNELS, "regroup", lambda s, p: _wrong_regroup(s[0], *p)),
    COLUMN_BLOCKS,
    21,
    13,
)
_mutant("zero point dropped", "rows_per_block", says("rows_per_block", everywhere(is_step, without_zero)), COLUMN_BLOCKS, 21, 13)

# collapse
_mutant(
    "zero points not compared",
    "collapse",
    lambda patch: _blind_collapse(patch),
    dequantize(dtypes.INT8, (6, 50), PerAxis(0), scales=[0.1], zero=True),
    13,
    10,
)
ULP = float(np.nextafter(np.float32(0.1), np.float32(1)))
_mutant(
    "scales one ulp apart taken as equal",
    "collapse",
    item(facts.QUESTIONS, "equal_along", lambda source, axis: _nearly_equal(source, axis)),
    dequantize(dtypes.INT8, (6, 256), PerAxis(0), scales=[0.1, ULP]),
    13,
    10,
)
_mutant(
    "wrong axis",
    "collapse",
    says("collapse", everywhere(is_step, lambda e: replace(e, meaning=replace(e.meaning, granularity=PerAxis(1))))),  # type: ignore[union-attr,type-var]
    dequantize(dtypes.INT8, (16, 16), Blocked(1, 16), zero=True),
    21,
    13,
)

# int32-codes
_mutant(
    "zero point added",
    "int32_codes",
    item(recode.KERNELS, "subtract", lambda s, p: _added(s, p)),
    dequantize(dtypes.INT16, (6, 50), PerAxis(0), zero=True),
    21,
    13,
    prefer="nodes",
)
_mutant(
    "operands of Sub swapped",
    "int32_codes",
    says("int32_codes", everywhere(op("Sub"), lambda e: replace(e, inputs=e.inputs[::-1]))),  # type: ignore[union-attr,type-var]
    dequantize(dtypes.INT16, zero=True, live="xz"),
    21,
    13,
)
_mutant(
    "zero points along the wrong axis",
    "int32_codes",
    attribute(recode, "parameter_index", lambda shape, axis, block, start, stop, vector: np.arange(start, stop) % shape[-1]),
    dequantize(dtypes.INT16, (7, 7), PerAxis(0), zero=True),
    21,
    13,
    prefer="nodes",
)

# scaled-integers
F8 = dequantize(dtypes.FLOAT8E4M3FN, finite=True)
PLUS = [c for c in codes_of(dtypes.FLOAT8E4M3FN).astype(np.float64) if not (c == 0 and np.signbit(c))]
FINITE = [c for c in PLUS if np.isfinite(c)]
_mutant(
    "scale halved once more",
    "scaled_integers",
    says("scaled_integers", everywhere(is_step, lambda e: _halved(e))),
    dequantize(dtypes.FLOAT8E4M3FN, codes=FINITE),
    19,
    13,
    prefer="nodes",
)
_mutant(
    "-0 lost, though bit-equal was promised",
    "scaled_integers",
    says("scaled_integers", lambda e: e, exactness=Exactness.BIT_EQUAL),
    F8,
    19,
    13,
)
_mutant(
    "NaN codes let through",
    "scaled_integers",
    item(facts.QUESTIONS, "float_codes", lambda source: replace(_float_codes(source), finite=True)),
    dequantize(dtypes.FLOAT8E4M3FN, codes=PLUS),
    19,
    13,
    prefer="nodes",
)
_mutant(
    "scales too small to divide let through",
    "scaled_integers",
    item(facts.QUESTIONS, "divides", lambda source, exponent: True),
    dequantize(dtypes.FLOAT8E4M3FN, codes=FINITE, scales=[1e-44]),
    19,
    13,
    prefer="nodes",
)

# lookup
ALL_F8 = dequantize(dtypes.FLOAT8E4M3FN)
_mutant("sign lost in the table", "lookup", attribute(lookup, "_table", lambda storage: _table(storage, np.abs)), ALL_F8, 19, 13)
_mutant(
    "-0 lost in the table",
    "lookup",
    attribute(lookup, "_table", lambda storage: _table(storage, lambda v: v + np.float32(0))),
    ALL_F8,
    19,
    13,
)
_mutant(
    "NaN lost in the table",
    "lookup",
    attribute(lookup, "_table", lambda storage: _table(storage, lambda v: np.nan_to_num(v, nan=480))),
    ALL_F8,
    19,
    13,
)

# in-float32
_mutant(
    "scale rounded to the output's type first",
    "in_float32",
    says("in_float32", scaled(lambda e: cast(cast(e, F16), dtypes.FLOAT))),
    dequantize(dtypes.UINT8, expressed=F16, live="x"),
    23,
    13,
)
_mutant(
    "float16 division done in float32",
    "in_float32",
    hears("in_float32", lambda step: replace(step, meaning=replace(step.meaning, compute=dtypes.FLOAT))),
    quantize(dtypes.INT8, zero=1, scales=[0.1], **HALF),
    23,
    13,
)
_mutant(
    "scale rounded to bfloat16",
    "in_float32",
    says("in_float32", scaled(lambda e: cast(cast(e, dtypes.BFLOAT16), dtypes.FLOAT))),
    dequantize(dtypes.INT8, expressed=F16, scale=F16, live="x"),
    19,
    13,
)

# divide-first
HALF_Q = quantize(dtypes.INT8, zero=1, scales=[0.1], **HALF)
_mutant("quotient not rounded to float16", "divide_first", attribute(phrases, "quotient", lambda step: _unrounded(step)), HALF_Q, 23, 13)
_mutant(
    "multiplied by the reciprocal",
    "divide_first",
    attribute(phrases, "quotient", lambda step: _reciprocal(step)),
    quantize(dtypes.UINT8, (6, 140), PerAxis(0), zero=3),
    13,
    10,
)
_mutant(
    "multiplied by the reciprocal of a run-time scale",
    "plain_quantize",
    attribute(phrases, "quotient", lambda step: _reciprocal(step)),
    quantize(dtypes.INT8, (6, 140), PerTensor(), live="xs"),
    13,
    9,
)
_mutant("zero point dropped", "divide_first", says("divide_first", everywhere(is_step, without_zero)), HALF_Q, 23, 13)
_mutant(
    "scales along the wrong axis",
    "divide_first",
    attribute(phrases, "spread", lambda parameter, step: parameter),
    quantize(dtypes.UINT8, (40, 40), PerAxis(0), zero=3),
    13,
    10,
)

# plain-quantize
WIDE_Q = quantize(dtypes.INT16, zero=True, scales=[0.25])
_mutant(
    "zero point added before rounding",
    "plain_quantize",
    says("plain_quantize", everywhere(op("Add"), lambda e: _rounded_late(e))),
    quantize(dtypes.INT16, zero=1, scales=[0.25]),
    21,
    13,
)
_mutant("Clip left out", "plain_quantize", says("plain_quantize", everywhere(op("Clip"), first)), WIDE_Q, 21, 13)
_mutant("ties rounded up", "plain_quantize", attribute(phrases, "round_even", lambda x, opset: _half_up(x)), WIDE_Q, 21, 13)
_mutant(
    "clipped before the zero point",
    "plain_quantize",
    says("plain_quantize", everywhere(op("Clip"), lambda e: _clipped_early(e))),
    quantize(dtypes.UINT8, zero=255, scales=[0.25]),
    13,
    9,
)
_mutant(
    "magic number half as large",
    "plain_quantize",
    attribute(phrases, "MAGIC", phrases.MAGIC / 2),
    quantize(dtypes.UINT8, zero=3, scales=[0.25]),
    13,
    9,
)

# plain-arithmetic
_mutant(
    "multiplied before the zero point is taken off",
    "plain_arithmetic",
    says("plain_arithmetic", everywhere(op("Mul"), lambda e: _distributed(e))),
    dequantize(dtypes.UINT8, (6, 50), PerAxis(0), zero=True, live="x"),
    13,
    9,
)
_mutant(
    "zero point dropped",
    "plain_arithmetic",
    says("plain_arithmetic", everywhere(op("Sub"), first)),
    dequantize(dtypes.UINT8, zero=3, live="x"),
    13,
    9,
)
_mutant(
    "scale off by one ulp", "plain_arithmetic", one_ulp("plain_arithmetic"), dequantize(dtypes.UINT8, (6, 50), PerAxis(0), live="x"), 13, 9
)

# unit-scale
_mutant(
    "scales along the wrong axis",
    "unit_scale",
    says("unit_scale", everywhere(op("Mul"), lambda e: _turned(e))),
    dequantize(dtypes.INT8, (16, 8), Blocked(0, 4), zero=True),
    21,
    10,
    prefer="nodes",
)
_mutant(
    "zero points not taken off",
    "unit_scale",
    hears("unit_scale", lambda step: replace(step, zero_point=None)),
    dequantize(dtypes.INT8, (6, 50), PerAxis(0), zero=True),
    13,
    10,
)

# float-grid
CARRIED = quantize(dtypes.FLOAT8E4M3FN, carrier=dtypes.FLOAT)
_mutant("one mantissa bit too many", "float_grid", attribute(float_grid, "grid", lambda storage: (4, -6)), CARRIED, 19, 13)
_mutant("least normal number twice as large", "float_grid", attribute(float_grid, "grid", lambda storage: (3, -5)), CARRIED, 19, 13)
_mutant("Clip left out", "float_grid", says("float_grid", everywhere(op("Clip"), first)), CARRIED, 19, 13)

# float8-cast
_mutant(
    "saturates though it must not",
    "float8_cast",
    says("float8_cast", everywhere(op("Cast"), lambda e: replace(e, attributes=(("to", e.dtype.code),)))),  # type: ignore[union-attr,type-var]
    quantize(dtypes.FLOAT8E4M3FNUZ, saturate=False, **HALF),
    23,
    21,
)
_mutant(
    "rounded twice, by float16",
    "float8_cast",
    says("float8_cast", everywhere(op("Div"), lambda e: cast(cast(e, F16), dtypes.FLOAT))),
    quantize(dtypes.FLOAT8E4M3FN, scale=F16, compute=dtypes.FLOAT, scales=[0.1]),
    23,
    21,
)

# carry
_mutant("scale off by one ulp", "carry", one_ulp("carry"), CARRIED, 21, 19, prefer="nodes")


def _turned(expr: Expr) -> Expr:
    """The scales of a product along another axis: inside each block instead of over the blocks."""
    assert isinstance(expr, Op)
    codes, scale = expr.inputs
    assert scale is not None
    assert scale.shape is not None
    shape = scale.shape[::-1] if len(scale.shape) < 4 else tuple(scale.shape[d] for d in (0, 2, 1, 3))
    return replace(expr, inputs=(codes, reshape(scale, shape)))  # type: ignore[arg-type]


def _shifted_reblock(source: Any, axis: int, old: int, new: int, count: int) -> Any:
    array = materialize(source)
    index = np.minimum(np.arange(count) * new // old + 1, array.shape[axis] - 1)
    return ArraySource(np.ascontiguousarray(array.take(index, axis=axis)))


def _wrong_regroup(source: Any, pre: int, length: int, post: int, block: int) -> Any:
    return ArraySource(materialize(source).reshape(-1, block))


def _cut_at_the_front(expr: Expr) -> Expr:
    assert isinstance(expr, Op)
    x, _, stop, axis = expr.inputs
    assert x is not None
    assert isinstance(stop, Literal)
    whole = x.shape[-1]  # type: ignore[index]
    start = int(whole) - int(stop.array[0])  # type: ignore[arg-type]
    return replace(expr, inputs=(x, literal([start], dtypes.INT64), literal([whole], dtypes.INT64), axis))


def _blind_collapse(patch: pytest.MonkeyPatch) -> None:
    from qdqtool.lowerings import collapse

    original = collapse._varies
    patch.setattr(
        collapse, "_varies", lambda parameter, axis, context: parameter.dtype is dtypes.FLOAT and original(parameter, axis, context)
    )


def _nearly_equal(source: Any, axis: int) -> bool:
    array = materialize(source).astype(np.float64)
    return bool(np.allclose(array, array.take([0], axis=axis), rtol=1e-6))


def _added(sources: Any, params: Any) -> Any:
    plain = recode.Shifted(sources[0], sources[1], params[0])
    zero = recode.Shifted(ArraySource(np.zeros(sources[0].shape, np.int32)), sources[1], params[0])
    return ArraySource(materialize(plain) - 2 * materialize(zero))


def _halved(expr: Expr) -> Expr:
    assert isinstance(expr, Step)
    return replace(expr, scale=computed("divide", expr.scale, 1))


_float_codes = facts.float_codes


def _table(storage: Any, change: Callable[[Any], Any]) -> Literal:
    values = change(np.arange(1 << storage.bits, dtype=np.uint8).view(storage.numpy).astype(np.float32))
    return Literal(values.tobytes(), dtypes.FLOAT, values.shape)


_spread = phrases.spread


def _unrounded(step: Step) -> Expr:
    return binary("Div", cast(step.x, dtypes.FLOAT), _spread(cast(step.scale, dtypes.FLOAT), step))  # type: ignore[arg-type]


def _reciprocal(step: Step) -> Expr:
    scale = _spread(step.scale, step)
    assert scale is not None
    return binary("Mul", step.x, binary("Div", literal(1.0, dtypes.FLOAT), scale))


def _rounded_late(expr: Expr) -> Expr:
    assert isinstance(expr, Op)
    rounded, zero = expr.inputs
    assert isinstance(rounded, Op)
    assert zero is not None
    return replace(rounded, inputs=(binary("Add", first(rounded), zero),)) if rounded.op == "Round" else expr


def _half_up(x: Expr) -> Expr:
    assert x.dtype is not None
    return Op("Floor", (binary("Add", x, literal(0.5, dtypes.FLOAT)),), (), dtypes.FLOAT, x.shape)


def _clipped_early(expr: Expr) -> Expr:
    assert isinstance(expr, Op)
    shifted = expr.inputs[0]
    if not isinstance(shifted, Op) or shifted.op != "Add":
        return expr
    return replace(shifted, inputs=(replace(expr, inputs=(shifted.inputs[0], *expr.inputs[1:])), shifted.inputs[1]))


def _distributed(expr: Expr) -> Expr:
    assert isinstance(expr, Op)
    centred, scale = expr.inputs
    if not isinstance(centred, Op) or centred.op != "Sub" or scale is None:
        return expr
    values, zero = centred.inputs
    assert values is not None
    assert zero is not None
    return binary("Sub", binary("Mul", values, scale), binary("Mul", zero, scale))


# for runtimes that take some steps only
_mutant(
    "codes not moved with the zero point",
    "signed",
    item(recode.KERNELS, "recentre", lambda s, p: recode.Mapped(s[0], p[0], lambda a: a.view(p[0].numpy))),
    dequantize(dtypes.UINT4, (4, 16), zero=8),
    21,
    "tensorrt@10.0",
)
_mutant(
    "zero point left as it was",
    "symmetric",
    item(recode.KERNELS, "subtract", lambda s, p: recode.Mapped(s[0], dtypes.INT32, lambda a: a.astype(np.int32))),
    dequantize(dtypes.INT8, (4, 16), scales=[0.1], zero=3, codes=range(-60, 61)),
    13,
    "tensorrt@10.0",
)
_mutant(
    "smaller blocks take the next scale",
    "even_blocks",
    item(recode.KERNELS, "reblock", lambda s, p: _shifted_reblock(s[0], *p)),
    dequantize(dtypes.INT8, (6, 48), Blocked(1, 32), zero=True),
    21,
    "openvino",
)
_mutant(
    "zero point dropped",
    "float_bias",
    hears("float_bias", lambda step: replace(step, zero_point=None)),
    dequantize(dtypes.INT8, scales=[0.1], zero=100, codes=range(-128, -100)),
    13,
    "tensorrt@10.0",
    biased=True,
)
