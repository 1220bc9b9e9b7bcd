"""Many nodes with one cause: it is said once, at the first of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import TypeVar

from qdqtool.model.graph import Place

Cause = TypeVar("Cause", bound=Hashable)


def by_cause(found: Iterable[tuple[Place, Cause]]) -> Iterator[tuple[Place, Cause, str]]:
    """Each cause with its first place and, where there are more, their number for the end of a message: `` (72 nodes)``."""
    places: dict[Cause, list[Place]] = {}
    for place, cause in found:
        places.setdefault(cause, []).append(place)
    for cause, those in places.items():
        yield those[0], cause, f" ({len(those)} nodes)" if len(those) > 1 else ""
