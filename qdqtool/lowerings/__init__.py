"""Ways to say a step otherwise: one file each, found by name.

A lowering has a ``NAME`` and ``say(step, context)``, which yields expressions that mean the same as the step. Steps inside them
are legalized again, so lowerings compose without knowing each other. Each must make its step simpler in one respect (a wider
storage type, a coarser granularity, float32 instead of another type), so that no chain of them runs in a circle.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from qdqtool.dtypes import FLOAT8
from qdqtool.exactness import NO_BOUND, Bound, Exactness
from qdqtool.expressions import Const, Expr, Step, is_const


@dataclass(frozen=True, slots=True)
class Said:
    """An expression with how close it is to the step it stands for."""

    expr: Expr
    exactness: Exactness = Exactness.BIT_EQUAL
    bound: Bound = NO_BOUND


class Context(Protocol):
    """What a lowering may ask: the target's ai.onnx opset, whether its runtime is `bound` to take some steps only, and whether
    the step is a bias to it; facts about constants (see ``plan.facts``)."""

    @property
    def opset(self) -> int: ...

    @property
    def bound(self) -> bool: ...

    @property
    def bias(self) -> bool: ...

    def fact(self, question: str, const: Const, *params: Any) -> Any: ...


def without_effect(zero_point: Expr | None, step: Step, context: Context) -> bool:
    """Whether a zero point changes nothing: none, one of float8 (which must be 0), or zeros."""
    if zero_point is None or step.meaning.storage in FLOAT8:
        return True
    return is_const(zero_point) and context.fact("value_range", zero_point) == (0.0, 0.0)


class Lowering(Protocol):
    NAME: str

    def say(self, step: Step, context: Context) -> Iterable[Said]: ...


@cache
def all_lowerings() -> tuple[Lowering, ...]:
    """Every lowering of this package, by name."""
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    return tuple(sorted((m for m in modules if hasattr(m, "NAME")), key=lambda m: m.NAME))
