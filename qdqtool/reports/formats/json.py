"""The whole record as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdqtool.reports.json import dumped

if TYPE_CHECKING:
    from qdqtool.validation import Validation


def write(validation: Validation) -> str:
    """The record, with stable keys in a stable order."""
    return dumped(validation.to_dict())
