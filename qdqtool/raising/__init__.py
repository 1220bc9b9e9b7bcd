"""Ways to say less decomposed what a model says in several nodes: one file each, found by name. The mirror of ``lowerings``.

A raising has a ``NAME`` and ``raised(expr, context)``, which yields expressions that mean the same as `expr`: a step where there were
operators around it, or a step of narrower codes. Expressions inside are raised too, so raisings compose without knowing each other.
On the way a step may have a scale of ones (`UNIT`), which stands for codes as they are; no such step is ever written.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from typing import Any, Protocol

from qdqtool import dtypes
from qdqtool.expressions import Const, Expr, literal
from qdqtool.lowerings import Said

UNIT = literal(1.0, dtypes.FLOAT)
UNITS = {t: literal(1.0, t) for t in (dtypes.FLOAT, dtypes.FLOAT16, dtypes.BFLOAT16)}


class Context(Protocol):
    """What a raising may ask of the model."""

    def fact(self, question: str, const: Const, *params: Any) -> Any: ...

    def original(self, expr: Expr) -> bool:
        """It stands in the model as it is: no raising made it."""
        ...

    def free(self, const: Const) -> bool:
        """Only dequantize steps read it, so that it may be stored otherwise."""
        ...


class Raising(Protocol):
    NAME: str

    def raised(self, expr: Expr, context: Context) -> Iterable[Said]: ...


@cache
def all_raisings() -> tuple[Raising, ...]:
    """Every raising of this package, by name."""
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    return tuple(sorted((m for m in modules if hasattr(m, "NAME")), key=lambda m: m.NAME))
