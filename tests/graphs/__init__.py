"""The generated suite of small models: form tables times loops, the same in every process."""

from __future__ import annotations

from functools import cache

from tests.graphs.case import Case


@cache
def suite() -> tuple[Case, ...]:
    """Every case, in a fixed order."""
    from tests.graphs import attributes, constants, functions, grids, models, scopes

    return tuple(c for part in (grids, attributes, constants, scopes, functions, models) for c in part.cases())
