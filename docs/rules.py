"""A page for each lint rule, out of its docstring, and the index of all."""

from __future__ import annotations

from itertools import groupby

from docs.tables import GENERATED
from qdqtool import targets
from qdqtool.rules.descriptions import Description, descriptions

TEXT = """What `qdqtool validate` looks for. `--explain CODE` shows a page on the terminal; `--select` and `--ignore` take codes,
beginnings of codes and names.

- *error*: the specification gives the node no meaning, or the runtime in force (`--for`, by default the newest ONNX Runtime)
  rejects it when it loads or runs the model.
- *warning*: accepted, but computes something else or falls off the fast path; or a breach of the specification that every
  measured runtime accepts.
- *info*: worth knowing.
"""
RUNTIMES = """Which of the runtime rules say something about which runtime (`--for NAME`), and how bad it is there at worst. The rows
behind it, with their sources, are on the page of [targets](../targets.md).
"""
WORST = ("error", "warning", "info")


def pages() -> dict[str, str]:
    """File name below ``docs`` to text."""
    found = descriptions()
    return {"rules/index.md": _index(found)} | {f"rules/{rule.code}.md": _page(rule) for rule in found}


def _page(rule: Description) -> str:
    body = rule.page.replace("``", "`")
    return f"# {rule.code} {rule.name}\n\n{GENERATED}\n{rule.severity}, {rule.group}\n\n{body}\n"


def _index(found: list[Description]) -> str:
    parts = ["# Rules\n", GENERATED, TEXT]
    for group, members in groupby(found, key=lambda rule: rule.group):
        lines = [f"| [{r.code}]({r.code}.md) | {r.name} | {r.severity} | {r.summary.replace('``', '`')} |\n" for r in members]
        parts.append(f"## {group.capitalize()}\n\n| code | rule | severity | what it finds |\n| --- | --- | --- | --- |\n{''.join(lines)}")
    return "\n".join([*parts, f"## Rules by runtime\n\n{RUNTIMES}\n{_matrix(found)}"])


def _matrix(found: list[Description]) -> str:
    profiles = {name: runtime.profile(None) for name, runtime in targets.all_targets().items()}
    newest = {name: profile for name, profile in profiles.items() if profile is not None and profile.cautions.rows}
    head = f"| rule | {' | '.join(newest)} |\n| --- |{' --- |' * len(newest)}\n"
    lines = []
    for rule in found:
        severities = [{row.severity for row in profile.cautions.of(rule.name)} for profile in newest.values()]
        if any(severities):
            cells = [next((s for s in WORST if s in each), "") for each in severities]
            lines.append(f"| [{rule.code}]({rule.code}.md) {rule.name} | {' | '.join(cells)} |\n")
    return head + "".join(lines)
