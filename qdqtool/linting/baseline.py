"""Findings that are known and do not fail: a JSON file of fingerprints, written once and kept beside the models."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qdqtool.errors import Usage
from qdqtool.findings import Finding

VERSION = 1


@dataclass(frozen=True, slots=True)
class Known:
    """One entry, which is there as often as the finding is."""

    fingerprint: str
    code: str
    path: str
    at: str
    about: str = ""


def read(path: Path) -> list[Known]:
    """The entries of a baseline; Usage when it is none."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["version"] != VERSION:
            raise ValueError(f"its version is {record['version']}, not {VERSION}")
        return [Known(**entry) for entry in record["findings"]]
    except FileNotFoundError:
        raise Usage("no-baseline", f"the baseline {path} does not exist", hint=f"--write-baseline {path}") from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise Usage("broken-baseline", f"{path} is no baseline", why="it is no JSON", hint="name a file of --write-baseline") from None
    except (ValueError, KeyError, TypeError) as error:
        raise Usage("broken-baseline", f"{path} is no baseline", why=str(error), hint=f"--write-baseline {path}") from None


def write(path: Path, findings: Sequence[Finding]) -> None:
    """Make all findings known, in a stable order."""
    entries = sorted((_entry(f) for f in findings), key=lambda e: (e["path"], e["code"], e["at"], e["about"]))
    path.write_text(json.dumps({"version": VERSION, "findings": entries}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def split(findings: Sequence[Finding], known: Sequence[Known]) -> tuple[list[Finding], list[Finding]]:
    """New findings, and known ones."""
    left = Counter(entry.fingerprint for entry in known)
    fresh: list[Finding] = []
    old: list[Finding] = []
    for finding in findings:
        familiar = left[finding.fingerprint] > 0
        left[finding.fingerprint] -= familiar
        (old if familiar else fresh).append(finding)
    return fresh, old


def stale(findings: Sequence[Finding], known: Sequence[Known], paths: Collection[str], codes: Collection[str]) -> list[Known]:
    """Entries that no finding answers any more, of the files and rules that were looked at."""
    left = Counter(finding.fingerprint for finding in findings)
    gone = []
    for entry in known:
        if left[entry.fingerprint] > 0:
            left[entry.fingerprint] -= 1
        elif entry.path in paths and entry.code in codes:
            gone.append(entry)
    return gone


def _entry(finding: Finding) -> dict[str, Any]:
    fields = ("fingerprint", "code", "path", "at", "about")
    return {name: getattr(finding, name) for name in fields}
