"""JUnit XML: a model is a suite, each of its findings a failed case; a model without any is one case that passed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from qdqtool.findings import at_least

if TYPE_CHECKING:
    from qdqtool.errors import QdqtoolError
    from qdqtool.findings import Finding
    from qdqtool.validation import Validation

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no way to write."""


def write(validation: Validation) -> str:
    """Findings below the limit that fails the run are cases that passed, with their text as output."""
    root = Element("testsuites", name="qdqtool validate")
    suites = [_suite(validation, file) for file in validation.files]
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    root.extend(suites)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(validation: Validation, file: str) -> Element:
    findings = [f for f in validation.findings if f.file == file]
    failing = [at_least(f.severity, validation.fail_on) for f in findings]
    unreadable = validation.errors.get(file)
    cases = len(findings) + bool(unreadable) or 1
    counts = {"tests": cases, "failures": sum(failing), "errors": int(bool(unreadable)), "skipped": 0}
    suite = Element("testsuite", {"name": _text(file or "model")} | {name: str(count) for name, count in counts.items()})
    for finding, fails in zip(findings, failing, strict=True):
        _finding(suite, finding, fails=fails)
    if unreadable is not None:
        _unreadable(suite, file, unreadable)
    elif not findings:
        SubElement(suite, "testcase", classname=_text(file or "model"), name="no findings")
    return suite


def _finding(suite: Element, finding: Finding, *, fails: bool) -> None:
    name = f"{finding.code} {finding.rule}" + (f" at {finding.at}" if finding.at else "") + (f" ({finding.about})" if finding.about else "")
    case = SubElement(suite, "testcase", classname=_text(finding.file or "model"), name=_text(name))
    text = f"{finding.severity}: {finding.message}" + (f"\nhint: {finding.hint}" if finding.hint else "")
    if fails:
        SubElement(case, "failure", type=finding.code, message=_text(finding.message)).text = _text(text)
    else:
        SubElement(case, "system-out").text = _text(text)


def _unreadable(suite: Element, file: str, error: QdqtoolError) -> None:
    case = SubElement(suite, "testcase", classname=_text(file), name="readable")
    SubElement(case, "error", type=error.code, message=_text(error.message)).text = _text(str(error))


def _text(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
