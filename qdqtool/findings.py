"""What the linter says about a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""Worst first."""


@dataclass(frozen=True, slots=True, eq=False)
class Fix:
    """A change of the model that removes a problem.

    `apply` changes the protobuf that the subject was made of, in place; the subject is stale afterwards. A safe one keeps every
    result bit for bit.
    """

    title: str
    safe: bool
    apply: Callable[[], None] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Problem:
    """What a rule yields: a place in words (``main / conv1.DequantizeLinear``, or empty for the model), and what is wrong there.

    `message` names tensors, shapes and values, `hint` the way out. `about` is the value or attribute that is at fault, which keeps
    fingerprints of several problems at one place apart. `severity` differs from the rule's only where the rule says when.
    """

    at: str
    message: str
    hint: str = ""
    about: str = ""
    severity: Severity | None = None
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem with the rule that found it and the file it is in.

    Attributes
    ----------
    code, rule : str
        ``QDQ203``, ``scale-not-finite``.
    file : str
        As it was named, with ``/``; empty for a model in memory.
    path : str
        The file below the root of the project, which does not depend on where the linter was started.
    runtime : str
        The profile that makes it a finding, e.g. ``ort@1.19``; empty where every runtime is meant.
    fix : str
        What `--fix` would do, empty where nothing; `safe` tells whether it keeps every result bit for bit.
    """

    code: str
    rule: str
    severity: Severity
    file: str
    at: str
    message: str
    hint: str = ""
    about: str = ""
    runtime: str = ""
    path: str = ""
    fix: str = ""
    safe: bool = False

    @property
    def fingerprint(self) -> str:
        """Stays the same when nodes are added, moved or reordered, and when the message changes."""
        import hashlib  # takes a while to load

        return hashlib.sha256("\0".join((self.code, self.path, self.at, self.about)).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        names = ("code", "rule", "severity", "file", "at", "message", "hint", "about", "runtime", "fingerprint")
        return {name: getattr(self, name) for name in names} | {"fix": {"title": self.fix, "safe": self.safe} if self.fix else None}


def at_least(severity: Severity, limit: Severity) -> bool:
    """Whether a severity is as bad as `limit` or worse."""
    return SEVERITIES.index(severity) <= SEVERITIES.index(limit)
