"""Spellings of quantize and dequantize: one file each, found by name.

A dialect has a ``NAME`` (what users type) and a ``DOMAIN``. One of single steps has ``ROWS``, one ``capabilities.Row`` for each operator
version. One of fused operators has `OPERATORS`, which `split` says as steps around a plain operator and `fuse` makes of them; so no
dialect knows another.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

from qdqtool.exactness import NO_BOUND, Bound, Exactness

if TYPE_CHECKING:
    from qdqtool.capabilities import Row
    from qdqtool.dtypes import ElementType
    from qdqtool.expressions import Attribute, Const, Expr, Op, Shape
    from qdqtool.quantization import Meaning

Layout = Literal["direct", "transposed"]
Sign = Literal["signed", "unsigned"]


class Dialect(Protocol):
    """Spellings of single steps."""

    NAME: str
    DOMAIN: str
    ROWS: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to say a fused operator, or to fuse steps around a plain one, and how close it is."""

    expr: Expr
    exactness: Exactness = Exactness.BIT_EQUAL
    bound: Bound = NO_BOUND


@dataclass(frozen=True, slots=True)
class Saying:
    """All `ways`, of which the one with the least new constants is taken.

    `remarks` is what the metadata of the node that is written will hold, or no longer hold (None): what the other form has no word for, so
    that the way back restores it. `step` is what is said about the weights.
    """

    ways: tuple[Way, ...]
    step: Meaning
    remarks: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Impossible:
    """Why there is no way."""

    reasons: tuple[str, ...]


class Asking(Protocol):
    """What a fused dialect may ask of the model and of the request."""

    @property
    def layout(self) -> Layout | None:
        """How a matrix of weights shall lie before its MatMul; None leaves it open."""
        ...

    @property
    def sign(self) -> Sign | None:
        """Whether codes shall be stored signed; None leaves it open."""
        ...

    @property
    def exact(self) -> bool:
        """Whether sums in another order are not allowed."""
        ...

    @property
    def opset(self) -> int:
        """Of ai.onnx, where the node stands in the source model."""
        ...

    @property
    def goal(self) -> int:
        """The opset of ai.onnx that is aimed at."""
        ...

    def remark(self, key: str) -> str | None:
        """Metadata of the last node."""
        ...

    def fact(self, question: str, const: Const, *params: Any) -> Any: ...

    def tied(self, const: Const) -> bool:
        """A fused operator of another kind, or a step, reads the same tensor."""
        ...


class Readable(Protocol):
    """Operators that hold quantized weights: what they say, for inspection. One that is no `Fused` stays wherever it stands."""

    NAME: str
    DOMAIN: str
    OPERATORS: tuple[tuple[str, str], ...]

    def result(
        self, op: str, attributes: Mapping[str, Attribute], inputs: Sequence[Expr | None]
    ) -> tuple[ElementType | None, Shape | None]:
        """Type and shape of what an operator gives, as far as its operands tell."""
        ...

    def meaning(self, op: Op) -> Meaning | None:
        """What it says about its weights, as far as attributes and types tell."""
        ...


class Fused(Protocol):
    """Spellings of steps fused with a plain operator.

    `OPERATORS` are its own, by domain and name; patterns of its way back end in an operator of `LAST` (of none where there is no way back)
    and hold those of `INNER` besides steps, which give values of the type of their first operand.
    """

    NAME: str
    DOMAIN: str
    OPERATORS: tuple[tuple[str, str], ...]
    LAST: tuple[str, ...]
    INNER: tuple[str, ...]

    def result(
        self, op: str, attributes: Mapping[str, Attribute], inputs: Sequence[Expr | None]
    ) -> tuple[ElementType | None, Shape | None]:
        """Type and shape of what an operator gives, as far as its operands tell."""
        ...

    def meaning(self, op: Op) -> Meaning | None:
        """What it says about its weights, as far as attributes and types tell."""
        ...

    def split(self, op: Op, asking: Asking) -> Saying | Impossible:
        """Steps around a plain operator that mean the same."""
        ...

    def fuse(self, expr: Expr, asking: Asking) -> Saying | Impossible | None:
        """One operator that means the same as the pattern; None when it is no pattern of this dialect."""
        ...

    def narrowed(self, expr: Expr, limit: int) -> Expr:
        """An operator of this dialect, or a pattern, with its weights cut to about `limit` elements, for a probe."""
        ...


@cache
def _modules() -> tuple[Any, ...]:
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    return tuple(sorted(modules, key=lambda m: (m.DOMAIN != "", m.NAME)))


@cache
def all_dialects() -> dict[str, Dialect]:
    """Every dialect of single steps by its name, ai.onnx first."""
    return {m.NAME: m for m in _modules() if hasattr(m, "ROWS")}


@cache
def fused_dialects() -> dict[str, Fused]:
    """Every dialect of fused operators by its name."""
    return {m.NAME: m for m in _modules() if hasattr(m, "split")}


@cache
def fusible() -> tuple[str, ...]:
    """Names of those whose operators can be made of steps."""
    return tuple(name for name, fused in fused_dialects().items() if fused.LAST)


@cache
def readable_operators() -> dict[tuple[str, str], Readable]:
    """Who can read each operator that holds weights, by domain and name."""
    return {op: m for m in _modules() if hasattr(m, "OPERATORS") for op in m.OPERATORS}


@cache
def fused_operators() -> dict[tuple[str, str], Fused]:
    """The dialect of each fused operator, by domain and name."""
    return {op: fused for fused in fused_dialects().values() for op in fused.OPERATORS}


StandIn = Callable[[Sequence[int | None], Mapping[str, int]], tuple[str, Sequence[int]] | None]
"""From the types of the constant operands of a fused operator and its integer attributes to the ai.onnx operator that gives a result of the
same type and shape, and the operands it takes; None when there is none."""


@cache
def stand_ins() -> dict[tuple[str, str], StandIn]:
    """For the inference of types, which does not know fused operators: what stands for each, as far as a dialect says (`LIKE`)."""
    return {op: like for m in _modules() for op, like in getattr(m, "LIKE", {}).items()}
