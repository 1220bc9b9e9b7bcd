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
RUNTIMES = """Which of the runtime rules say something about which runtime (`--for NAME`), and how bad it is there at worst; in brackets
what only older versions do. The rows behind it, with their sources, are on the page of [targets](../targets.md). Rules that
are not listed depend on no runtime.
"""
WORST = ("error", "warning", "info")


def pages() -> dict[str, str]:
    """File name below ``docs`` to text."""
    found = descriptions()
    return {"rules/index.md": _index(found)} | {f"rules/{rule.code}.md": _page(rule) for rule in found}


def _page(rule: Description) -> str:
    body = rule.page.replace("``", "`")
    kind = f"*{rule.severity}*, one of the [{rule.group} rules](index.md#{rule.group})"
    return f"# {rule.code} {rule.name}\n\n{GENERATED}\n{kind}\n\n{body}\n"


def _index(found: list[Description]) -> str:
    parts = ["# Rules\n", GENERATED, TEXT]
    for group, members in groupby(found, key=lambda rule: rule.group):
        lines = [f"| [{r.code}]({r.code}.md) | {r.name} | {r.severity} | {r.summary.replace('``', '`')} |\n" for r in members]
        parts.append(f"## {group.capitalize()}\n\n| code | rule | severity | what it finds |\n| --- | --- | --- | --- |\n{''.join(lines)}")
    return "\n".join([*parts, f"## Rules by runtime\n\n{RUNTIMES}\n{_matrix(found)}"])


def _matrix(found: list[Description]) -> str:
    known = {name: _newest_first(runtime) for name, runtime in targets.all_targets().items()}
    profiles = {name: own for name, own in known.items() if any(profile.cautions.rows for profile in own)}
    head = f"| rule | {' | '.join(profiles)} |\n| --- |{' --- |' * len(profiles)}\n"
    lines = []
    for rule in found:
        cells = [_cell(rule, own) for own in profiles.values()]
        if any(cells):
            lines.append(f"| [{rule.code}]({rule.code}.md) {rule.name} | {' | '.join(cells)} |\n")
    return head + "".join(lines)


def _newest_first(runtime: targets.Runtime) -> list[targets.Profile]:
    versions = (None, *runtime.versions())
    return [profile for version in versions if (profile := runtime.profile(version)) is not None]


def _cell(rule: Description, profiles: list[targets.Profile]) -> str:
    newest, *older = ({row.severity for row in profile.cautions.of(rule.name)} for profile in profiles)
    worst = next((severity for severity in WORST if severity in newest), "")
    before = next((severity for severity in WORST for each in older if severity in each), "")
    return worst or (f"({before})" if before else "")
