"""GitHub workflow commands: one line for each finding, which GitHub shows as an annotation of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qdqtool.findings import Finding
    from qdqtool.validation import Validation

COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}
_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = _DATA | {":": "%3A", ",": "%2C"}


def write(validation: Validation) -> str:
    """Findings, then files that could not be read."""
    lines = [_line(COMMANDS[f.severity], f.path or f.file, f"{f.code} {f.rule}", _said(f)) for f in validation.findings]
    lines += [_line("error", file, error.code, str(error)) for file, error in validation.errors.items()]
    return "".join(f"{line}\n" for line in lines)


def _said(finding: Finding) -> str:
    return (f"{finding.at}: " if finding.at else "") + finding.message + (f"\nhint: {finding.hint}" if finding.hint else "")


def _line(command: str, file: str, title: str, text: str) -> str:
    given = ",".join(f"{name}={_escaped(value, _PROPERTY)}" for name, value in (("file", file), ("title", title)) if value)
    return f"::{command} {given}::{_escaped(text, _DATA)}"


def _escaped(text: str, table: dict[str, str]) -> str:
    return "".join(table.get(char, char) for char in text)
