"""Which operand of an integer operator is what, and what the plain operator inside is.

Source: operator schemas and CPU kernels of ONNX Runtime 1.32, all executed but QLinearReduceMean, which has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qdqtool.dialects import StandIn
from qdqtool.exactness import NO_BOUND, Bound, Exactness
from qdqtool.expressions import Attribute, Op

DOMAIN = "com.microsoft"

Slots = tuple[int, int, int]
"""Where codes, scale and zero point stand."""

STEP = Bound(steps=1, ties=True)
"""Integers are added up exactly and scaled once; the plain operator rounds on the way, and some kernels add the zero point before they
round. Both can move a value that lies near a tie by one step."""

SUM = Bound(of_maximum=2.0**-19)
"""Real results: integers are added up exactly, the plain operator's sum is rounded (16 ulps of float32)."""


@dataclass(frozen=True, slots=True)
class Form:
    """`reads` are the quantized operands, `gives` scale and zero point of the result; `bias` is one of int32, `free` is as it is."""

    plain: str
    reads: tuple[Slots, ...]
    gives: tuple[int, int] | None
    bias: int | None = None
    free: tuple[int, ...] = ()
    bound: Bound = STEP
    domain: str = DOMAIN

    @property
    def exactness(self) -> Exactness:
        return Exactness.ROUNDING if self.bound else Exactness.BIT_EQUAL

    @property
    def weighted(self) -> bool:
        """Its second operand may be weights, with scales for each channel."""
        return len(self.reads) == 2 and self.plain in ("Conv", "MatMul", "Gemm")


def _one(plain: str, bound: Bound = STEP) -> Form:
    return Form(plain, ((0, 1, 2),), (3, 4), bound=bound)


def _two(plain: str, bias: int | None = None, domain: str = DOMAIN) -> Form:
    return Form(plain, ((0, 1, 2), (3, 4, 5)), (6, 7), bias, domain=domain)


RELU = "qdqtool.relu"
"""Remark in the metadata of nodes: a Relu came before the quantize, whose lowest code stands for 0 and does the same."""

FORMS: Mapping[str, Form] = {
    "QLinearConv": _two("Conv", 8, ""),
    "QLinearMatMul": _two("MatMul", None, ""),
    "QGemm": Form("Gemm", ((0, 1, 2), (3, 4, 5)), (7, 8), 6),
    "QLinearAdd": _two("Add"),
    "QLinearMul": _two("Mul"),
    "QLinearSigmoid": _one("Sigmoid"),
    "QLinearLeakyRelu": _one("LeakyRelu", NO_BOUND),
    "QLinearSoftmax": _one("Softmax"),
    "QLinearAveragePool": _one("AveragePool"),
    "QLinearGlobalAveragePool": _one("GlobalAveragePool"),
    "QLinearReduceMean": _one("ReduceMean"),
    "QLinearWhere": Form("Where", ((1, 2, 3), (4, 5, 6)), (7, 8), free=(0,), bound=NO_BOUND),
    "QLinearConcat": Form("Concat", (), (0, 1), bound=NO_BOUND),
    "MatMulIntegerToFloat": Form("MatMul", ((0, 2, 4), (1, 3, 5)), None, free=(6,), bound=SUM),
    "DynamicQuantizeMatMul": Form("MatMul", ((1, 2, 3),), None, free=(0, 4), bound=SUM),
}

OPERATORS = (*((form.domain, name) for name, form in FORMS.items()), (DOMAIN, "QLinearConv"))

LAST_CHANNELS = ("QLinearConv", "QLinearAveragePool", "QLinearGlobalAveragePool")
"""Those that may have their channels last (attribute ``channels_last``)."""


def _like(name: str, form: Form) -> StandIn:
    """Codes have the type of the first operand's, and the shape of the plain operator's result.

    Quantizers have been seen to add an int32 bias by QLinearAdd, which no kernel takes; the result has the type of its zero point.
    """

    def like(types: Sequence[int | None], attributes: Mapping[str, int]) -> tuple[str, Sequence[int]] | None:
        slots = range(2, len(types), 3) if name == "QLinearConcat" else (*form.free, *(s[0] for s in form.reads))
        if form.gives is None or len(types) <= form.gives[1] or attributes.get("channels_last", 0):
            return None
        given = types[form.gives[1]]
        return form.plain, sorted(slots, key=lambda slot: types[slot] not in (None, given)) if form.plain in ("Add", "Mul") else slots

    return like


LIKE: Mapping[tuple[str, str], StandIn] = {(DOMAIN, name): _like(name, form) for name, form in FORMS.items() if name != "QLinearMatMul"}


def reads(op: Op) -> tuple[Slots, ...]:
    """Where the quantized operands of an operator stand."""
    if op.op == "QLinearConcat":
        return tuple((slot, slot + 1, slot + 2) for slot in range(2, len(op.inputs) - 1, 3))
    return FORMS[op.op].reads


def channels(op: Op, number: int) -> int | None:
    """The axis along which a quantized operand may have scales; None for one scale only."""
    plain = FORMS[op.op].plain
    if plain == "MatMul":
        return -1 if number == len(FORMS[op.op].reads) - 1 else -2
    if number == 0 or plain not in ("Conv", "Gemm"):
        return None
    return 0 if plain == "Conv" or integer(op, "transB") else 1


def integer(op: Op, name: str, default: int = 0) -> int:
    """An integer attribute."""
    value = dict[str, Attribute](op.attributes).get(name, default)
    return value if isinstance(value, int) else default
