"""What ``validate --format`` writes: one file for each format, found by its name, with a function ``write(Validation) -> str``."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qdqtool.validation import Validation

    Writer = Callable[[Validation], str]

__all__ = ["names", "writer"]


def names() -> list[str]:
    """All formats; none is imported for it."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__))


def writer(name: str) -> Writer:
    """The function that writes a format."""
    found: Writer = import_module(f"{__name__}.{name}").write
    return found
