"""Workflow commands as GitHub's runner reads them."""

from __future__ import annotations

import re
from dataclasses import replace

from qdqtool.reports.formats.github import write
from tests.reports.formats.samples import EMPTY, ODD, VALIDATION, finding

COMMAND = re.compile(r"^::(error|warning|notice) (?:([^:]*))::(.*)$")


def read(line: str) -> tuple[str, dict[str, str], str]:
    """Command, properties and message, unescaped in the runner's order."""
    found = COMMAND.match(line)
    assert found, line
    pairs = (pair.split("=", 1) for pair in found[2].split(","))
    return found[1], {name: _plain(value, (("%3A", ":"), ("%2C", ","))) for name, value in pairs}, _plain(found[3], ())


def _plain(text: str, more: tuple[tuple[str, str], ...]) -> str:
    for code, char in (("%0D", "\r"), ("%0A", "\n"), *more, ("%25", "%")):
        text = text.replace(code, char)
    return text


def test_one_line_for_each_finding_and_unreadable_file() -> None:
    lines = write(VALIDATION).splitlines()
    assert [read(line)[0] for line in lines] == ["error", "warning", "notice", "error"]
    assert lines[0] == (
        "::error file=models/m.onnx,title=QDQ203 scale-not-finite::"
        "main / a.DequantizeLinear: scale 's' [4] has 1 NaN%0Ahint: calibrate again"
    )


def test_everything_survives_escaping() -> None:
    _, properties, message = read(write(VALIDATION).splitlines()[1])
    assert properties == {"file": ODD, "title": "QDQ203 scale-not-finite"}
    assert message == "function f / x / y: two\nlines, 100 %: <&>]]>\x01\nhint: calibrate again"


def test_nothing_to_say() -> None:
    assert write(EMPTY) == ""


def test_equal_findings_share_an_annotation() -> None:
    findings = (finding(), finding(at="main / b"), finding(at="main / c"), finding("another"))
    lines = [read(line)[2] for line in write(replace(EMPTY, findings=findings)).splitlines()]
    assert lines == [
        "main / a.DequantizeLinear and 2 more places: scale 's' [4] has 1 NaN\nhint: calibrate again",
        "main / a.DequantizeLinear: another\nhint: calibrate again",
    ]
