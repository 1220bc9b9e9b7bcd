"""What a reason is made of: the problem, and the opsets at which it does not exist."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from qdqtool.opsets import schemas
from qdqtool.opsets.schemas import Schema


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a form is illegal. `kind` and `subject` tell problems apart independently of the opset."""

    kind: Literal["operator", "attribute", "input", "output", "type", "link", "value"]
    subject: str
    text: str


def when(op: str, domain: str, version: int, accepted: Callable[[Schema], bool]) -> str:
    """Where a condition holds instead: ``from opset 21``, ``up to opset 12``, or nothing when it never does."""
    history = [s for s in schemas.history(op, domain) if not s.deprecated]
    later = next((s.since for s in history if s.since > version and accepted(s)), None)
    if later is not None:
        return f"from opset {later}"
    earlier = [i for i, s in enumerate(history) if s.since <= version and accepted(s)]
    follower = [s.since for s in schemas.history(op, domain)]
    return f"only up to opset {follower[earlier[-1] + 1] - 1}" if earlier and earlier[-1] + 1 < len(follower) else ""


def aside(text: str) -> str:
    """The text in brackets, behind what was said before."""
    return f" ({text})" if text else ""


def listed(names: Iterable[str]) -> str:
    """The distinct names as an enumeration: ``X, W and B``."""
    *first, last = dict.fromkeys(names)
    return f"{', '.join(first)} and {last}" if first else last
