"""Spellings of quantize and dequantize: one file each, found by name.

A dialect has a ``NAME`` (what users type), a ``DOMAIN`` and ``ROWS``, one ``capabilities.Row`` for each operator version.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from qdqtool.capabilities import Row


class Dialect(Protocol):
    NAME: str
    DOMAIN: str
    ROWS: tuple[Row, ...]


@cache
def all_dialects() -> dict[str, Dialect]:
    """Every dialect by its name, ai.onnx first."""
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    return {m.NAME: m for m in sorted(modules, key=lambda m: (m.DOMAIN != "", m.NAME))}
