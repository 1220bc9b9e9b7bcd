"""SARIF 2.1.0 for code scanning: a model is an artifact, the graph path of a node a logical location.

A binary file has no lines, but GitHub drops results without one, so each result is on line 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from qdqtool import __version__
from qdqtool.reports.json import dumped

if TYPE_CHECKING:
    from qdqtool.findings import Finding
    from qdqtool.rules.descriptions import Description
    from qdqtool.validation import Validation

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {"error": "error", "warning": "warning", "info": "note"}
FINGERPRINT = "qdqtool/v1"


def write(validation: Validation) -> str:
    """One run; silenced findings are results with a suppression, known ones are unchanged in the baseline."""
    index = {rule.code: number for number, rule in enumerate(validation.rules)}
    fresh = "new" if validation.known or validation.stale else None
    results = [_result(f, index, baseline=fresh) for f in validation.findings]
    results += [_result(f, index, baseline="unchanged") for f in validation.known]
    results += [_result(f, index, baseline=fresh, suppressed=True) for f in validation.suppressed]
    run = {
        "tool": {"driver": _driver(validation.rules)},
        "invocations": [_invocation(validation)],
        "artifacts": [{"location": _artifact(path)} for path in sorted({f.path or f.file for f in validation.findings} - {""})],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return dumped({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _driver(rules: tuple[Description, ...]) -> dict[str, Any]:
    return {"name": "qdqtool", "version": __version__, "semanticVersion": __version__, "rules": [_rule(rule) for rule in rules]}


def _rule(rule: Description) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": rule.page.replace("**", "").replace("``", "`"), "markdown": rule.page.replace("``", "`")},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {"tags": ["onnx", "quantization", rule.group]},
    }


def _invocation(validation: Validation) -> dict[str, Any]:
    notices = [_notice(file, str(error)) for file, error in validation.errors.items()]
    return {"executionSuccessful": not notices, "exitCode": validation.status, "toolExecutionNotifications": notices}


def _notice(file: str, text: str) -> dict[str, Any]:
    where = [{"physicalLocation": {"artifactLocation": _artifact(file)}}] if file else []
    return {"level": "error", "message": {"text": text}, "locations": where}


def _result(finding: Finding, index: dict[str, int], *, baseline: str | None, suppressed: bool = False) -> dict[str, Any]:
    text = finding.message + (f" ({finding.hint})" if finding.hint else "")
    result = {
        "ruleId": finding.code,
        **({"ruleIndex": index[finding.code]} if finding.code in index else {}),
        "level": LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [_location(finding)],
        "partialFingerprints": {FINGERPRINT: finding.fingerprint},
    }
    if baseline:
        result["baselineState"] = baseline
    if suppressed:
        result["suppressions"] = [{"kind": "inSource", "justification": "metadata qdqtool.ignore of the model"}]
    return result


def _location(finding: Finding) -> dict[str, Any]:
    place: dict[str, Any] = {}
    file = finding.path or finding.file
    if file:
        place["physicalLocation"] = {"artifactLocation": _artifact(file), "region": {"startLine": 1}}
    if finding.at:
        scope, _, node = finding.at.rpartition(" / ")
        kind = "function" if scope.startswith("function") else "element"
        place["logicalLocations"] = [{"name": node or finding.at, "fullyQualifiedName": finding.at, "kind": kind}]
    return place


def _artifact(path: str) -> dict[str, str]:
    absolute = path.startswith("/")
    return {"uri": ("file://" if absolute else "") + quote(path)}
