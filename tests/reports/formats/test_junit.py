"""JUnit XML by the rules that its readers share (Ant's and Jenkins' XSD), field by field."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from qdqtool.reports.formats.junit import write
from qdqtool.validation import Validation
from tests.reports.formats.samples import EMPTY, VALIDATION

ATTRIBUTES = {
    "testsuites": {"name", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped"},
    "testcase": {"name", "classname"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "system-out": set(),
}
INSIDE = {
    "testsuites": {"testsuite"},
    "testsuite": {"testcase"},
    "testcase": {"failure", "error", "system-out"},
    "failure": set(),
    "error": set(),
    "system-out": set(),
}


@pytest.mark.parametrize("validation", [VALIDATION, EMPTY], ids=["everything", "nothing"])
def test_elements_and_attributes_are_those_of_the_format(validation: Validation) -> None:
    root = ElementTree.fromstring(write(validation))
    assert root.tag == "testsuites"
    for element in root.iter():
        assert set(element.attrib) == ATTRIBUTES[element.tag]
        assert {child.tag for child in element} <= INSIDE[element.tag]


@pytest.mark.parametrize("validation", [VALIDATION, EMPTY], ids=["everything", "nothing"])
def test_counts_are_those_of_the_elements(validation: Validation) -> None:
    root = ElementTree.fromstring(write(validation))
    for element in [root, *root]:
        assert int(element.attrib["tests"]) == len(list(element.iter("testcase")))
        assert int(element.attrib["failures"]) == len(list(element.iter("failure")))
        assert int(element.attrib["errors"]) == len(list(element.iter("error")))


def test_what_fails_depends_on_the_limit() -> None:
    root = ElementTree.fromstring(write(VALIDATION))
    assert [e.attrib["type"] for e in root.iter("failure")] == ["QDQ203"]
    assert [e.attrib["type"] for e in root.iter("error")] == ["not-a-model"]
    assert [suite.attrib["failures"] for suite in root] == ["1", "0", "0", "0"]


def test_text_survives() -> None:
    root = ElementTree.fromstring(write(VALIDATION))
    assert [e.text for e in root.iter("system-out")][1] == "warning: two\nlines, 100 %: <&>]]>\ufffd\nhint: calibrate again"
    assert [case.attrib["name"] for case in root.iter("testcase")][-2:] == ["no findings", "readable"]
