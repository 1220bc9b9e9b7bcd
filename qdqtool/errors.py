"""The errors users see: what went wrong, where, why, and the way out."""

from __future__ import annotations

import copyreg
from collections.abc import Sequence
from typing import Any


class QdqtoolError(Exception):
    """Base of all errors raised on purpose.

    Attributes
    ----------
    code : str
        Short stable name, e.g. ``unreadable-model``.
    message, where, why, hint : str
        One sentence each; all but `message` may be empty.
    status : int
        Exit status of the command line (1 refused, 2 usage or unreadable input, 3 check failed).
    """

    status = 2

    def __init__(self, code: str, message: str, *, where: str = "", why: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.where, self.why, self.hint = code, message, where, why, hint

    def __reduce__(self) -> tuple[Any, ...]:
        """For other processes: exceptions would be rebuilt from positional arguments alone."""
        return copyreg.__newobj__, (type(self),), self.__dict__  # type: ignore[attr-defined]

    def __str__(self) -> str:
        parts = [self.message, self.where and f"where: {self.where}", self.why and f"why: {self.why}", self.hint and f"hint: {self.hint}"]
        return "\n  ".join(p for p in parts if p)


class Unreadable(QdqtoolError):
    """The input is missing, damaged, or no ONNX model."""


class Usage(QdqtoolError):
    """The request makes no sense (unknown opset, no target, output on top of the input ...)."""


class Refused(QdqtoolError):
    """The target cannot express the model. `reasons` holds one ``plan.Refusal`` for each place; nothing was written."""

    status = 1

    def __init__(self, message: str, reasons: Sequence[Any], *, hint: str = "") -> None:
        super().__init__("refused", message, hint=hint)
        self.reasons = tuple(reasons)

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *(f"  {r}" for r in self.reasons)])


class CheckFailed(QdqtoolError):
    """The rewritten model differs from the original, or a required check could not run. `report` is a ``check.Report``."""

    status = 3

    def __init__(self, message: str, report: Any, *, why: str = "", hint: str = "") -> None:
        super().__init__("check-failed", message, why=why, hint=hint)
        self.report = report
