"""GitHub workflow commands, each of which GitHub shows as an annotation of a file: ten of a kind, so that equal findings share one."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from qdqtool.reports.layout import count

if TYPE_CHECKING:
    from qdqtool.findings import Finding
    from qdqtool.validation import Validation

COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = _DATA | {":": "%3A", ",": "%2C"}


def write(validation: Validation) -> str:
    """Findings, then files that could not be read."""
    same: dict[tuple[str, ...], list[Finding]] = defaultdict(list)
    for f in validation.findings:
        same[f.severity, f.file, f.code, f.message].append(f)
    lines = [_line(COMMANDS[f.severity], f.path or f.file, f"{f.code} {f.rule}", _said(f, len(more))) for f, *more in same.values()]
    lines += [_line("error", file, error.code, str(error)) for file, error in validation.errors.items()]
    return "".join(f"{line}\n" for line in lines)


def _said(finding: Finding, more: int) -> str:
    at = finding.at + (f" and {count(more, 'more place')}" if more else "")
    return (f"{at}: " if at else "") + finding.message + (f"\nhint: {finding.hint}" if finding.hint else "")


def _line(command: str, file: str, title: str, text: str) -> str:
    given = ",".join(f"{name}={_escaped(value, _PROPERTY)}" for name, value in (("file", file), ("title", title)) if value)
    return f"::{command} {given}::{_escaped(text, _DATA)}"


def _escaped(text: str, table: dict[str, str]) -> str:
    return "".join(table.get(char, char) for char in text)
