"""The record of ``qdqtool validate``: what was found in which file, what of it is known or silenced, and what was mended."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qdqtool.errors import QdqtoolError, Unreadable
from qdqtool.findings import SEVERITIES, Finding, Severity, at_least
from qdqtool.linting.baseline import Known
from qdqtool.rules.descriptions import Description


@dataclass(frozen=True, slots=True)
class Applied:
    """A fix that was carried out, or would be."""

    code: str
    rule: str
    at: str
    title: str
    safe: bool


@dataclass(frozen=True, slots=True)
class Mended:
    """A file with its fixes; `diff` shows the nodes before and after, `written` is None where nothing was written.

    `check` is the report of the closing check, original against mended.
    """

    file: str
    applied: tuple[Applied, ...]
    diff: str
    written: Path | None = None
    check: Any = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        fixes = [{name: getattr(a, name) for name in ("code", "rule", "at", "title", "safe")} for a in self.applied]
        check = self.check.to_dict() if self.check else None
        return {
            "file": self.file,
            "fixes": fixes,
            "diff": self.diff,
            "written": str(self.written) if self.written else None,
            "check": check,
        }


@dataclass(frozen=True, slots=True)
class Validation:
    """What `validate` says about some files.

    Attributes
    ----------
    target : str
        The runtime whose profile was in force.
    fail_on : "error", "warning" or "info"
        Findings this bad or worse make `status` 1.
    files : tuple of str
        All that were looked at, as they were named; a model in memory is the empty string.
    findings : tuple of Finding
        Worst first within each file; neither silenced nor known.
    suppressed, known : tuple of Finding
        Silenced by metadata in the model; in the baseline.
    stale : tuple of Known
        Entries of the baseline that are no longer found.
    errors : dict of str to QdqtoolError
        Files that could not be read, or mended.
    mended : tuple of Mended
        Files with fixes.
    rules : tuple of Description
        Those that found something.
    """

    target: str
    fail_on: Severity
    files: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Finding, ...] = ()
    known: tuple[Finding, ...] = ()
    stale: tuple[Known, ...] = ()
    errors: Mapping[str, QdqtoolError] = field(default_factory=dict)
    mended: tuple[Mended, ...] = ()
    rules: tuple[Description, ...] = ()

    @property
    def failing(self) -> tuple[Finding, ...]:
        """Findings at or above `fail_on`."""
        return tuple(f for f in self.findings if at_least(f.severity, self.fail_on))

    @property
    def status(self) -> int:
        """Exit status: 0 clean, 1 findings, 2 unreadable, 3 a fix did not pass its check; the highest counts."""
        return max([int(bool(self.failing)), *(error.status for error in self.errors.values())])

    @property
    def read(self) -> tuple[str, ...]:
        """The files that could be read, and were judged."""
        return tuple(file for file in self.files if not isinstance(self.errors.get(file), Unreadable))

    @property
    def ok(self) -> bool:
        """Nothing at or above `fail_on`, and every file was read."""
        return self.status == 0

    @property
    def severities(self) -> dict[Severity, int]:
        """Number of findings by severity, worst first."""
        counts = Counter(f.severity for f in self.findings)
        return {severity: counts[severity] for severity in SEVERITIES}

    @property
    def statistics(self) -> list[dict[str, Any]]:
        """By rule and severity, worst first: number of findings and of files."""
        groups: dict[tuple[int, str, str], list[str]] = defaultdict(list)
        for finding in self.findings:
            groups[SEVERITIES.index(finding.severity), finding.code, finding.rule].append(finding.file)
        return [
            {"code": code, "rule": rule, "severity": SEVERITIES[rank], "findings": len(files), "files": len(set(files))}
            for (rank, code, rule), files in sorted(groups.items())
        ]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "target": self.target,
            "ok": self.ok,
            "files": list(self.files),
            "severities": self.severities,
            "findings": [f.to_dict() for f in self.findings],
            "suppressed": [f.to_dict() for f in self.suppressed],
            "known": [f.to_dict() for f in self.known],
            "stale": [{"fingerprint": k.fingerprint, "code": k.code, "file": k.path, "at": k.at} for k in self.stale],
            "errors": [_error(file, error) for file, error in self.errors.items()],
            "mended": [m.to_dict() for m in self.mended],
            "statistics": self.statistics,
        }


def _error(file: str, error: QdqtoolError) -> dict[str, Any]:
    return {"file": file} | {name: getattr(error, name) for name in ("code", "message", "where", "why", "hint", "status")}
