"""Tests and roundings of floats that came late: IsNaN 9, IsInf 10, Round 11; integers in Max and Min at 12."""

from __future__ import annotations

from collections.abc import Mapping

from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def no_number(draft: Draft) -> str | None:
    """Every number is below 1 or above 0."""
    dtype, x = draft.type(0), draft.input(0)
    if dtype is None:
        return f"the type of {x} is not known here"
    below, above = draft.add("Less", x, draft.scalar(1, dtype)), draft.add("Greater", x, draft.scalar(0, dtype))
    draft.add("Not", draft.add("Or", below, above), into=draft.output(0))
    return None


def infinite(draft: Draft) -> str | None:
    """Beyond the largest finite number."""
    dtype, x = draft.type(0), draft.input(0)
    if dtype is None:
        return f"the type of {x} is not known here"
    above = draft.add("Greater", x, draft.scalar(dtype.high, dtype))
    below = draft.add("Less", x, draft.scalar(dtype.low, dtype))
    found = [name for name, wanted in ((above, draft.get("detect_positive")), (below, draft.get("detect_negative"))) if wanted]
    both = found if found else [draft.add("And", above, below)]
    draft.add("Or", both[0], both[-1], into=draft.output(0))
    return None


def half_to_even(draft: Draft) -> str | None:
    """The whole number below, and one more behind the middle, or in the middle when it is odd."""
    dtype, x = draft.type(0), draft.input(0)
    if dtype is None:
        return f"the type of {x} is not known here"
    half, two = draft.scalar(0.5, dtype), draft.scalar(2, dtype)
    floor = draft.add("Floor", x)
    rest = draft.add("Sub", x, floor)
    twice = draft.add("Mul", draft.add("Floor", draft.add("Div", floor, two)), two)
    odd = draft.add("Greater", floor, twice)
    tie = draft.add("Not", draft.add("Or", draft.add("Less", rest, half), draft.add("Greater", rest, half)))
    up = draft.add("Or", draft.add("Greater", rest, half), draft.add("And", tie, odd))
    draft.add("Add", floor, draft.cast(up, dtype), into=draft.output(0))
    draft.values_only()
    return None


def greatest(draft: Draft) -> str | None:
    return _chosen(draft, "Greater")


def least(draft: Draft) -> str | None:
    return _chosen(draft, "Less")


def _chosen(draft: Draft, comparison: str) -> str | None:
    """One after the other."""
    dtype, names = draft.type(0), list(draft.node.input)
    if dtype is None or dtype.kind == "float":
        return ""
    value = names[0]
    for number, name in enumerate(names[1:], 2):
        into = draft.output(0) if number == len(names) else ""
        value = draft.add("Where", draft.add(comparison, value, name), value, name, into=into)
    if len(names) == 1:
        draft.add("Identity", value, into=draft.output(0))
    return None


DOWN: Mapping[Key, Adapter] = {
    ("IsNaN", 9): no_number,
    ("IsInf", 10): infinite,
    ("Round", 11): half_to_even,
    ("Max", 12): greatest,
    ("Min", 12): least,
}
