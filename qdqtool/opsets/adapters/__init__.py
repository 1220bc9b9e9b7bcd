"""Operators across the steps of their history: one file for each family, found by discovery.

A file has tables `UP` and `DOWN` from (operator, version) to an adapter. Going up, the adapter writes at that version what the
version before it meant; going down, it writes at the opset before that version what the version meant. It need not look
further: what it writes is moved on by itself.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

from qdqtool.opsets.draft import Adapter

Key = tuple[str, int]


@cache
def table(up: bool) -> Mapping[Key, tuple[str, Adapter]]:
    """Family and adapter by operator and version."""
    found: dict[Key, tuple[str, Adapter]] = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        rows: Mapping[Key, Adapter] = getattr(module, "UP" if up else "DOWN", {})
        found |= {key: (info.name, adapter) for key, adapter in rows.items()}
    return found
