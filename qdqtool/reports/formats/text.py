"""Findings as plain text, every one of them, for files and logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qdqtool.reports.validation import validation_text

if TYPE_CHECKING:
    from qdqtool.validation import Validation

WIDTH = 100


def write(validation: Validation) -> str:
    """What the terminal shows with ``-v``, without colour."""
    return validation_text(validation, WIDTH, verbose=True).plain
