"""Models of one integer operator each, in every layout that ONNX Runtime has a kernel for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper

from tests.dialects.layouts import MICROSOFT, Array, built

TYPES = {"u": (np.uint8, TensorProto.UINT8), "i": (np.int8, TensorProto.INT8)}


@dataclass(frozen=True)
class Case:
    """One node. `types` are those of its operands and of its result, `shapes` of its operands; those in `constant` are weights.

    `vector` is the number of scales of the second operand, `zeros` whether there are zero points other than 0.
    """

    op: str
    types: str
    shapes: tuple[tuple[int, ...], ...]
    attributes: dict[str, Any] = field(default_factory=dict, hash=False)
    constant: tuple[int, ...] = ()
    vector: int = 0
    bias: tuple[int, ...] | None = None
    domain: str = MICROSOFT
    real: bool = False
    zeros: bool = True
    one: tuple[int, ...] = ()
    opset: int = 21

    def __str__(self) -> str:
        attributes = "-".join(f"{k}{v}" for k, v in self.attributes.items()).replace(" ", "")
        shapes = "-".join("x".join(map(str, s)) for s in self.shapes)
        marks = (self.op, self.types, shapes, attributes, f"v{self.vector}" * bool(self.vector), "bias" * (self.bias is not None))
        tail = ("real" * self.real, "" if self.zeros else "z0", "one" * bool(self.one), self.domain and "ms" * (self.op == "QLinearConv"))
        return "-".join(m for m in (*marks, *tail) if m)


@dataclass
class Drawn:
    """A model of a case, and the inputs that it takes."""

    model: ModelProto
    feeds: dict[str, Array]


class _Drawing:
    def __init__(self, case: Case, seed: int) -> None:
        self.case, self.rng = case, np.random.default_rng(seed)
        self.held: dict[str, Array] = {}
        self.feeds: dict[str, Array] = {}

    def codes(self, name: str, kind: str, shape: Sequence[int], *, constant: bool) -> str:
        info = np.iinfo(TYPES[kind][0])
        values = self.rng.integers(info.min, info.max + 1, shape).astype(TYPES[kind][0])
        (self.held if constant else self.feeds)[name] = values
        return name

    def parameters(self, name: str, kind: str, count: int = 0, scale: float | None = None) -> list[str]:
        shape = (count,) if count else self.case.one
        low, high = self.rng.integers(0, 3), self.rng.integers(90, 166)
        zero = (high if kind == "u" else low - 3 * self.rng.integers(0, 20)) if self.case.zeros else 0
        drawn = self.rng.uniform(0.004, 0.03, shape) if scale is None else np.full(shape, scale)
        self.held[f"{name}_scale"] = np.asarray(drawn, np.float32)
        self.held[f"{name}_zero"] = np.full(shape, zero, TYPES[kind][0])
        return [f"{name}_scale", f"{name}_zero"]


def drawn(case: Case, seed: int = 0) -> Drawn:
    """A model whose result uses most of its range."""
    made = _Drawing(case, seed)
    names = {"QGemm": _gemm, "MatMulIntegerToFloat": _to_float, "DynamicQuantizeMatMul": _from_float}.get(case.op, _names)(made)
    node = helper.make_node(case.op, names, ["y"], "node", domain=case.domain, **case.attributes)
    inputs = [(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in made.feeds.items()]
    result = TensorProto.FLOAT if case.real else TYPES[case.types[-1]][1]
    return Drawn(built([node], inputs, [("y", result)], made.held, case.opset), made.feeds)


def _operands(made: _Drawing) -> Iterator[list[str]]:
    case = made.case
    for number, shape in enumerate(case.shapes):
        name = "ab"[number] if number < 2 else f"c{number}"
        codes = made.codes(name, case.types[number], shape, constant=number in case.constant)
        yield [codes, *made.parameters(name, case.types[number], case.vector if number == 1 else 0)]


def _names(made: _Drawing) -> list[str]:
    case = made.case
    operands = list(_operands(made))
    summed = case.op in ("QLinearConv", "QLinearMatMul")
    given = made.parameters("y", case.types[-1], scale=_step(case) if summed else None)
    if case.op == "QLinearConcat":
        return [*given, *(name for each in operands for name in each)]
    if case.op == "QLinearWhere":
        made.feeds["condition"] = made.rng.random(case.shapes[0]) < 0.5
        return ["condition", *operands[0], *operands[1], *given]
    return [*(name for each in operands for name in each), *given, *_bias(made)]


def _step(case: Case) -> float:
    """A scale with which the result of a product uses its range."""
    terms = np.prod(case.shapes[1]) / case.shapes[1][-1 if case.op != "QLinearConv" else 0]
    return float(0.017 * 0.017 * 74 * 74 * np.sqrt(terms) / 50)


def _bias(made: _Drawing) -> list[str]:
    if made.case.bias is None:
        return []
    made.held["bias"] = made.rng.integers(-3000, 3000, made.case.bias).astype(np.int32)
    return ["bias"]


def _gemm(made: _Drawing) -> list[str]:
    given = [] if made.case.real else made.parameters("y", made.case.types[-1], scale=_step(made.case))
    bias = _bias(made) or [""] * bool(given)
    return [*(name for each in _operands(made) for name in each), *bias, *given]


def _to_float(made: _Drawing) -> list[str]:
    (a, a_scale, a_zero), (b, b_scale, b_zero) = _operands(made)
    made.held |= {} if made.case.bias is None else {"bias": made.rng.normal(size=made.case.bias).astype(np.float32)}
    return [a, b, a_scale, b_scale, a_zero, b_zero, *["bias"] * (made.case.bias is not None)]


def _from_float(made: _Drawing) -> list[str]:
    _, weights = _operands(made)
    made.feeds = {"a": made.rng.normal(size=made.case.shapes[0]).astype(np.float32)}
    made.held |= {} if made.case.bias is None else {"bias": made.rng.normal(size=made.case.bias).astype(np.float32)}
    for unused in ("a_scale", "a_zero"):
        made.held.pop(unused, None)
    return ["a", *weights, *["bias"] * (made.case.bias is not None)]


X = ((2, 3, 7, 6),)
W = ((1, 4, 9, 8), (6, 4, 3, 3))
LAST = ((1, 9, 8, 4), (6, 4, 3, 3))
MATRIX = ((5, 12), (12, 7))
PADDED = {"pads": [1, 2, 0, 1], "strides": [2, 1], "kernel_shape": [3, 3]}
KINDS = ("uuu", "uiu", "iii")

SIMPLE: dict[str, Any] = {"constant": (1,), "domain": ""}
TYPED = [{"types": kinds} for kinds in KINDS]
SAME = [{"types": kinds} for kinds in ("uuu", "iii")]
UNARY = [{"types": kinds} for kinds in ("uu", "ii")]


def each(case: Case, *choices: Sequence[dict[str, Any]]) -> list[Case]:
    """The case with every combination of changes."""
    return [replace(case, **{k: v for part in parts for k, v in part.items()}) for parts in product(*choices)]


def scaled(count: int) -> list[dict[str, Any]]:
    return [{"vector": n, "bias": bias} for n in (0, count) for bias in (None, (count,))]


CONV = Case("QLinearConv", "uuu", W, **SIMPLE)
CONVOLUTIONS = (
    *each(CONV, TYPED, scaled(6)),
    *each(replace(CONV, attributes=PADDED, vector=6, bias=(6,)), TYPED),
    replace(CONV, attributes={"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    replace(CONV, shapes=((1, 4, 9, 8), (8, 2, 3, 3)), attributes={"group": 2, "dilations": [2, 1]}, vector=8, bias=(8,)),
    replace(CONV, types="uiu", shapes=((1, 6, 9, 8), (6, 1, 3, 3)), attributes={"group": 6}, vector=6),
    replace(CONV, shapes=((2, 4, 20), (5, 4, 3)), bias=(5,)),
    replace(CONV, constant=(), bias=(6,), one=(1,)),
    replace(CONV, types="uiu", vector=6, bias=(6,), zeros=False, opset=13),
    replace(CONV, bias=(6,), opset=10),
    replace(CONV, types="iii", bias=(6,), domain=MICROSOFT),
    replace(CONV, types="uiu", shapes=LAST, attributes={"channels_last": 1}, vector=6, bias=(6,), domain=MICROSOFT),
    replace(CONV, shapes=LAST, attributes={"channels_last": 1, **PADDED}, domain=MICROSOFT),
)
MATMUL = Case("QLinearMatMul", "uuu", MATRIX, **SIMPLE)
GEMM = replace(MATMUL, op="QGemm", domain=MICROSOFT)
MATRICES = (
    *each(MATMUL, TYPED, [{}, {"vector": 7}, {"constant": ()}]),
    replace(MATMUL, shapes=((2, 3, 5, 12), (2, 3, 12, 7)), constant=()),
    replace(MATMUL, shapes=((4, 5, 12), (12, 7)), vector=7),
    replace(MATMUL, types="uiu", one=(1,), zeros=False),
    *each(GEMM, TYPED, scaled(7)),
    *each(GEMM, [{"bias": bias} for bias in ((), (5, 1), (1, 1), (5, 7), (1, 7))]),
    *each(replace(GEMM, vector=7), [{"bias": bias} for bias in ((), (5, 1), (5, 7))]),
    replace(GEMM, types="uiu", shapes=((5, 12), (7, 12)), attributes={"transB": 1}, vector=7, bias=(7,)),
    replace(GEMM, shapes=((12, 5), (7, 12)), attributes={"transA": 1, "transB": 1, "alpha": 0.5}, vector=7, bias=(7,)),
    *each(replace(GEMM, attributes={"alpha": 1.5}, real=True), TYPED, scaled(7)),
)
SOFTMAX = [{"attributes": {"axis": axis, "opset": opset}} for axis, opset in ((-1, 13), (2, 13), (1, 13), (1, 12), (2, 11), (0, 12))]
BROADCAST = [{"shapes": shapes} for shapes in (((3, 40), (3, 40)), ((2, 3, 4), (4,)), ((1,), (5, 6)))]
ELEMENTWISE = (
    *each(Case("QLinearAdd", "uuu", ()), [{}, {"op": "QLinearMul"}], SAME, BROADCAST),
    *each(Case("QLinearSigmoid", "uu", ((4, 64),)), UNARY),
    *each(Case("QLinearLeakyRelu", "uu", ((4, 64),)), UNARY, [{}, {"attributes": {"alpha": 0.2}}]),
    *each(Case("QLinearSoftmax", "uu", ((3, 4, 16),)), UNARY, SOFTMAX),
    *each(Case("QLinearConcat", "uuu", ((2, 3), (2, 5)), {"axis": 1}), SAME),
    *each(Case("QLinearConcat", "uuu", ((2, 3), (4, 3)), {"axis": 0}), SAME),
    Case("QLinearConcat", "uuuu", ((2, 3), (2, 5), (2, 1)), {"axis": -1}),
    *each(Case("QLinearWhere", "uuu", ((4, 20), (4, 20))), SAME),
)
PADDED_POOL = {"pads": [1, 1, 1, 0]}
PADDED_POOL = {"pads": [1, 1, 1, 0]}
PADS: tuple[dict[str, Any], ...] = (
    {},
    {"strides": [2, 2]},
    PADDED_POOL,
    {**PADDED_POOL, "count_include_pad": 1},
    {"auto_pad": "SAME_UPPER"},
    {**PADDED_POOL, "strides": [2, 2], "ceil_mode": 1},
)
POOLS = (
    *each(Case("QLinearAveragePool", "uu", X), UNARY, [{"attributes": {"kernel_shape": [3, 2]} | more} for more in PADS]),
    Case("QLinearAveragePool", "uu", ((2, 7, 6, 3),), {"kernel_shape": [3, 2], "channels_last": 1}),
    *each(Case("QLinearGlobalAveragePool", "uu", X), UNARY),
    Case("QLinearGlobalAveragePool", "uu", ((2, 7, 6, 3),), {"channels_last": 1}),
)
TO_FLOAT = Case("MatMulIntegerToFloat", "uuu", MATRIX, constant=(1,), real=True)
REALS = (
    *each(TO_FLOAT, TYPED, scaled(7)),
    *each(replace(TO_FLOAT, op="DynamicQuantizeMatMul"), TYPED[:2], scaled(7)),
)
TABLE = (*CONVOLUTIONS, *MATRICES, *ELEMENTWISE, *POOLS, *REALS)
