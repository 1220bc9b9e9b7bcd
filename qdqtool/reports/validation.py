"""Findings as text: by file, worst first, equal ones together; then a table of the rules and a line that sums up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from qdqtool.reports import errors
from qdqtool.reports.layout import columns, count, entry, lines, paragraph

if TYPE_CHECKING:
    from qdqtool.findings import Finding
    from qdqtool.validation import Mended, Validation

SHOWN = 3
"""Messages of one rule that are shown of each file, and places of each, unless all are asked for."""

MARGIN = " " * 11
MEMORY = "model"
STYLES = {"error": "red", "warning": "yellow", "info": "cyan"}


def validation_text(validation: Validation, width: int, *, verbose: bool = False, statistics: bool = False, failures: bool = True) -> Text:
    """Everything; with `statistics` the table instead of the findings, without `failures` what could not be read only counted."""
    result = Text()
    for mended in validation.mended:
        result.append(_mended(mended, width, verbose)).append("\n")
    by_file: dict[str, list[Finding]] = defaultdict(list)
    for finding in () if statistics else validation.findings:
        by_file[finding.file].append(finding)
    for file in validation.files:
        if failures and file in validation.errors:
            result.append(errors.text(validation.errors[file], width, verbose=verbose)).append("\n")
        if by_file[file]:
            result.append(_file(file, by_file[file], width, verbose)).append("\n")
    if validation.findings:
        rows = [(s["code"], s["rule"], s["severity"], f"{s['findings']:,}", f"{s['files']:,}") for s in validation.statistics]
        result.append(columns(("code", "rule", "severity", "findings", "files"), rows, right=2)).append("\n")
    return result.append(_sum(validation, width))


def _file(file: str, findings: Sequence[Finding], width: int, verbose: bool) -> Text:
    result = paragraph(file or MEMORY, width, style="bold")
    groups: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[finding.code, finding.severity].append(finding)
    for members in groups.values():
        result.append(_group(members, width, verbose))
    return result


def _group(members: Sequence[Finding], width: int, verbose: bool) -> Text:
    """One rule in one file; a message and a hint that many share are said once, after them."""
    first = members[0]
    same: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in members:
        same[finding.message, finding.hint].append(finding)
    said = list(same.items())[: None if verbose else SHOWN]
    runtime = f"  ({first.runtime})" if first.runtime else ""
    style = STYLES[first.severity]
    result = Text().append(f"  {first.severity:<9}", style=f"bold {style}").append(f"{first.code} {first.rule}{runtime}\n", style="bold")
    for number, ((message, hint), findings) in enumerate(said):
        result.append(_places(findings, width, verbose)).append(_indented(message, width))
        if hint and (number + 1 == len(said) or said[number + 1][0][1] != hint):
            result.append(_indented(f"hint: {hint}", width, style="dim"))
    return result.append(_more(len(members) - sum(len(findings) for _, findings in said), width))


def _places(findings: Sequence[Finding], width: int, verbose: bool) -> Text:
    shown = [f for f in findings if f.at][: None if verbose else SHOWN]
    lines = Text().append("".join(f"{MARGIN}{f.at}\n" for f in shown), style=STYLES[findings[0].severity])
    return lines.append(_more(len(findings) - len(shown), width)) if shown else lines


def _more(number: int, width: int) -> Text:
    return _indented(f"and {count(number, 'more place')} (-v lists them)", width) if number else Text()


def _indented(text: str, width: int, style: str = "") -> Text:
    return Text().append("\n".join(lines(text, width, MARGIN, f"{MARGIN}  ")) + "\n", style=style)


def _mended(mended: Mended, width: int, verbose: bool) -> Text:
    written = mended.written is not None
    said = f"written to {mended.written}" if written else "not written"
    result = paragraph(f"{mended.file}: {count(len(mended.applied), 'fix', 'fixes')}, {said}", width, hanging=2, style="bold")
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for fix in mended.applied:
        groups[fix.code, fix.rule, fix.title if fix.safe else f"{fix.title} (unsafe)"].append(fix.at)
    for (code, rule, title), places in groups.items():
        result.append(entry(code, f"{len(places):,} x {rule}: {title}", width))
    if mended.check is not None:
        from qdqtool.reports.check import check_text

        result.append(check_text(mended.check, width, verbose=verbose))
    for line in mended.diff.splitlines() if not written or verbose else ():
        result.append(f"{line}\n", style="green" if line.startswith("+") else "red")
    return result


def _sum(validation: Validation, width: int) -> Text:
    found = [count(number, severity) for severity, number in validation.severities.items() if number and severity != "info"]
    found += [f"{validation.severities['info']:,} info"] if validation.severities["info"] else []
    read = validation.read
    said = f"{', '.join(found) or 'nothing found'} in {count(len(read), 'file')}" if read else "no file could be read"
    style = STYLES["error"] if not validation.ok else "green"
    result = paragraph(f"{said}, judged for {validation.target}" if read else said, width, style=f"bold {style}")
    for line in _notes(validation):
        result.append(paragraph(line, width, hanging=2))
    return result


def _notes(validation: Validation) -> Iterable[str]:
    safe = sum(bool(f.fix) and f.safe for f in validation.findings)
    unsafe = sum(bool(f.fix) and not f.safe for f in validation.findings)
    if safe:
        yield f"{count(safe, 'finding')} can be fixed with --fix"
    if unsafe:
        yield f"{count(unsafe, 'finding')} can be fixed with --fix --unsafe, which may change results"
    unread = len(validation.files) - len(validation.read)
    if unread and validation.read:
        yield f"{count(unread, 'file')} could not be read"
    if len(validation.errors) > unread:
        yield f"{count(len(validation.errors) - unread, 'file')} could not be mended"
    if validation.suppressed:
        yield f"{count(len(validation.suppressed), 'finding')} silenced by the models"
    if validation.known:
        yield f"{count(len(validation.known), 'known finding')} in the baseline"
    if validation.stale:
        gone = count(len(validation.stale), "entry of the baseline is", "entries of the baseline are")
        places = ", ".join(f"{k.code} {k.at or k.path}" for k in validation.stale[:SHOWN])
        yield f"{gone} no longer found ({places}{', ...' if len(validation.stale) > SHOWN else ''}); --write-baseline drops them"
