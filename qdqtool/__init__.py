"""qdqtool moves quantized ONNX models between opsets and dialects; the public names load on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qdqtool.api import compare, convert, fold, inspect, validate
    from qdqtool.comparison import Comparison
    from qdqtool.conversion import Conversion
    from qdqtool.errors import CheckFailed, QdqtoolError, Refused
    from qdqtool.findings import Finding
    from qdqtool.folding import Folding
    from qdqtool.validation import Validation

__version__ = "0.1.0"
__all__ = [
    "CheckFailed",
    "Comparison",
    "Conversion",
    "Finding",
    "Folding",
    "QdqtoolError",
    "Refused",
    "Validation",
    "__version__",
    "compare",
    "convert",
    "fold",
    "inspect",
    "validate",
]

_HOMES = {
    "CheckFailed": "qdqtool.errors",
    "Comparison": "qdqtool.comparison",
    "Conversion": "qdqtool.conversion",
    "Finding": "qdqtool.findings",
    "Folding": "qdqtool.folding",
    "QdqtoolError": "qdqtool.errors",
    "Refused": "qdqtool.errors",
    "Validation": "qdqtool.validation",
    "compare": "qdqtool.api",
    "convert": "qdqtool.api",
    "fold": "qdqtool.api",
    "inspect": "qdqtool.api",
    "validate": "qdqtool.api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
