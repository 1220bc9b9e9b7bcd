"""Small pieces of English."""

from __future__ import annotations


def counted(number: int, one: str, many: str) -> str:
    """``1 layer has``, ``3 layers have``."""
    return f"{number} {one if number == 1 else many}"
