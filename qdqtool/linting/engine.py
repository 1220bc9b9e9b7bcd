"""Rules run on one model: those of the file first, and those of the graph where it can be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from qdqtool.errors import QdqtoolError, Unreadable
from qdqtool.findings import SEVERITIES, Finding, Problem, Severity
from qdqtool.linting.subject import Subject
from qdqtool.linting.suppression import suppression
from qdqtool.rules import Rule, name_of

FAILED = "QDQ000"
"""Code of the finding that says that a rule failed."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A problem and the rule that found it."""

    code: str
    rule: str
    problem: Problem


@dataclass(frozen=True, slots=True)
class Linted:
    """What was found in a file, what of it the model itself silences, and why it cannot be read if that is so."""

    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Finding, ...] = ()
    error: QdqtoolError | None = None


def hits(subject: Subject, rules: Sequence[Rule]) -> Iterator[Hit]:
    """What the rules find; a model whose graph cannot be judged is left to those of the file."""
    faulty = False
    for rule in (r for r in rules if r.STAGE == "file"):
        for hit in _run(rule, subject, lenient=False):
            faulty |= (hit.problem.severity or rule.SEVERITY) == "error"
            yield hit
    graphic = [rule for rule in rules if rule.STAGE != "file"]
    if not graphic or subject.unsound:
        return
    try:
        _ = subject.steps
    except Exception as error:  # what every rule would stumble over is said once
        if not (faulty and isinstance(error, Unreadable)):
            yield Hit(FAILED, "rule-failed", _unread(error))
        return
    for rule in graphic:
        yield from _run(rule, subject, lenient=faulty)


def linted(subject: Subject, rules: Sequence[Rule], file: str = "", path: str = "") -> Linted:
    """All findings in a model, worst first, those of one rule together."""
    silent = suppression(subject.proto)
    found: tuple[list[Finding], list[Finding]] = ([], [])
    severities: dict[str, Severity] = {rule.CODE: rule.SEVERITY for rule in rules}
    for hit in _once(list(hits(subject, rules)), rules):
        finding = _finding(hit, subject, severities, file, path)
        found[silent.silences(finding.code, finding.rule, finding.at)].append(finding)
    return Linted(_sorted(found[False]), _sorted(found[True]))


def _once(hits: Sequence[Hit], rules: Sequence[Rule]) -> Iterator[Hit]:
    """Without what another rule says better of the same place."""
    general = {rule.CODE: getattr(rule, "INSTEAD_OF", ()) for rule in rules}
    told = {(code, hit.problem.at) for hit in hits for code in general.get(hit.code, ())}
    yield from (hit for hit in hits if (hit.code, hit.problem.at) not in told)


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda f: (SEVERITIES.index(f.severity), f.code)))


def _run(rule: Rule, subject: Subject, *, lenient: bool) -> Iterator[Hit]:
    """The problems of one rule; `lenient`: data that cannot be read is told already.

    A rule that raises is at fault, not the model: what it found until then stays, and one finding asks for a report.
    """
    name = name_of(rule)
    try:
        for problem in rule.check(subject):
            yield Hit(rule.CODE, name, problem)
    except Exception as error:
        if not (lenient and isinstance(error, Unreadable)):
            yield Hit(FAILED, "rule-failed", _failed(rule, name, error))


def _failed(rule: Rule, name: str, error: Exception) -> Problem:
    message = f"rule {rule.CODE} {name} failed on this model and may have missed something: {_said(error)}"
    return Problem("", message, f"please report this with the model; --ignore {rule.CODE} leaves the rule out", about=rule.CODE)


def _unread(error: Exception) -> Problem:
    message = f"the graph could not be read, so that most rules did not run: {_said(error)}"
    return Problem("", message, "please report this with the model", about="graph")


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")


def _finding(hit: Hit, subject: Subject, severities: dict[str, Severity], file: str, path: str) -> Finding:
    problem = hit.problem
    severity = problem.severity or severities.get(hit.code, "warning")
    runtime = str(subject.profile) if subject.profile is not None and hit.code.startswith("QDQ4") else ""
    about = str(problem.about)  # a name of a damaged file may be bytes
    found = Finding(hit.code, hit.rule, severity, file, problem.at, problem.message, problem.hint, about, runtime, path)
    return found if problem.fix is None else replace(found, fix=problem.fix.title, safe=problem.fix.safe)
