"""SARIF against its official schema, and what the schema does not say."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from qdqtool.reports.formats.sarif import write
from qdqtool.validation import Validation
from tests.conftest import ROOT
from tests.reports.formats.samples import EMPTY, ODD, VALIDATION

SCHEMA = json.loads((ROOT / "tests" / "data" / "sarif-2.1.0.json").read_text(encoding="utf-8"))


def run(validation: Validation) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(write(validation))["runs"][0]
    return found


@pytest.mark.parametrize("validation", [VALIDATION, EMPTY], ids=["everything", "nothing"])
def test_it_follows_the_schema(validation: Validation) -> None:
    checker = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
    assert [error.message for error in checker.iter_errors(json.loads(write(validation)))] == []


def test_the_schema_can_fail() -> None:
    wrong = json.loads(write(VALIDATION))
    wrong["runs"][0]["results"][0]["level"] = "fatal"
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(wrong)


def test_each_result_points_to_its_rule_and_place() -> None:
    rules = run(VALIDATION)["tool"]["driver"]["rules"]
    results = run(VALIDATION)["results"]
    assert [rules[r["ruleIndex"]]["id"] for r in results] == [r["ruleId"] for r in results]
    assert [r["level"] for r in results] == ["error", "warning", "note", "error", "error"]
    assert results[0]["locations"] == [
        {
            "physicalLocation": {"artifactLocation": {"uri": "models/m.onnx"}, "region": {"startLine": 1}},
            "logicalLocations": [
                {"name": "a.DequantizeLinear", "fullyQualifiedName": "main / a.DequantizeLinear", "kind": "element"},
            ],
        }
    ]
    assert "logicalLocations" not in results[2]["locations"][0]


def test_names_are_escaped() -> None:
    uri = run(VALIDATION)["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "models/a%20b/50%25%2C%20%22%C3%A9%22%20%3Cnew%3E%3A%00.onnx"
    assert ODD not in write(VALIDATION)


def test_silenced_and_known_findings_are_told_apart() -> None:
    results = run(VALIDATION)["results"]
    assert ["suppressions" in r for r in results] == [False, False, False, False, True]
    assert [r["baselineState"] for r in results] == ["new", "new", "new", "unchanged", "new"]


def test_an_unreadable_file_is_a_notification() -> None:
    invocation = run(VALIDATION)["invocations"][0]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 2)
    assert "its bytes are text" in invocation["toolExecutionNotifications"][0]["message"]["text"]


def test_fingerprints_are_those_of_the_findings() -> None:
    found = [r["partialFingerprints"]["qdqtool/v1"] for r in run(VALIDATION)["results"]]
    assert found[:3] == [f.fingerprint for f in VALIDATION.findings]
    assert len(set(found)) == len(found)
