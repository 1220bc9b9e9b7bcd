"""All rules over one model, without the command line around them."""

from __future__ import annotations

from pathlib import Path

from qdqtool.findings import Finding
from qdqtool.linting.engine import linted
from qdqtool.linting.subject import Subject
from qdqtool.model.load import load
from qdqtool.rules import all_rules
from qdqtool.targets import profile


def subject_of(path: Path, runtime: str = "ort") -> Subject:
    return Subject(load(path, trusting=True), profile(runtime))


def findings_of(path: Path, runtime: str = "ort") -> list[Finding]:
    """Everything all rules find."""
    return list(linted(subject_of(path, runtime), list(all_rules().values()), str(path)).findings)
