"""How much larger a model may become: growth is counted for all folds of one constant together, since it goes only with its last reader."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool.errors import Usage
from qdqtool.passes.selection import nbytes


def limit(text: int | str | None, whole: int) -> int | None:
    """Bytes that may be added to constants of `whole` bytes; None when there is no limit.

    Raises
    ------
    Usage
        `text` is neither a number of bytes nor a percentage.
    """
    if text is None:
        return None
    found = text if isinstance(text, int) else _parsed(text, whole)
    if found is None or found < 0:
        raise Usage("max-growth", f"'{text}' is no amount of growth", hint="for example 500MB, 64KiB or 10%")
    return found


def _parsed(text: str, whole: int) -> int | None:
    if not text.strip().endswith("%"):
        return nbytes(text)
    try:
        return int(whole * float(text.strip()[:-1]) / 100)
    except ValueError:
        return None


def beyond(growth: Mapping[str, int], budget: int | None) -> set[str]:
    """The groups that do not fit: least growth first until the budget is used up, then none that grows."""
    left, gone = budget, set[str]()
    for name in sorted(growth, key=lambda n: growth[n]):
        if growth[name] <= 0 or left is None:
            continue
        if growth[name] > left:
            gone.add(name)
            continue
        left -= growth[name]
    return gone
