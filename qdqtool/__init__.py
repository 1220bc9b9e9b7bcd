"""qdqtool moves quantized ONNX models between opsets and dialects; the public names load on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qdqtool.api import Conversion, convert, inspect
    from qdqtool.errors import CheckFailed, QdqtoolError, Refused

__version__ = "0.1.0"
__all__ = ["CheckFailed", "Conversion", "QdqtoolError", "Refused", "__version__", "convert", "inspect"]

_HOMES = {
    "CheckFailed": "qdqtool.errors",
    "Conversion": "qdqtool.api",
    "QdqtoolError": "qdqtool.errors",
    "Refused": "qdqtool.errors",
    "convert": "qdqtool.api",
    "inspect": "qdqtool.api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
