"""Writes the generated pages and the output of all examples: ``python -m docs.build``.

With ``--check`` it only says which pages are out of date.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click

from docs import rules, targets
from docs.examples import ROOT, replayed
from docs.tables import GENERATED, table
from qdqtool.capabilities import rows as every_row
from qdqtool.cli.group import group
from qdqtool.lowerings import all_lowerings

HERE = ROOT / "docs"
WIDTH = 78


def cli_page() -> str:
    """Help of every command, as the command prints it."""
    root = click.Context(group, info_name="qdqtool", terminal_width=WIDTH, **group.context_settings)
    parts = ["# Command line\n", GENERATED, "What `--help` prints.\n", _help("qdqtool", group.get_help(root))]
    for name in group.list_commands(root):
        command = group.get_command(root, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=root, terminal_width=WIDTH)
        parts.append(_help(f"qdqtool {name}", command.get_help(context)))
    return "\n".join(parts)


def _help(title: str, text: str) -> str:
    return f"## {title}\n\n```text\n{text}\n```\n"


def support_page() -> str:
    """What each version of QuantizeLinear and DequantizeLinear can express."""
    parts = ["# What each opset can express\n", GENERATED, SUPPORT]
    for dialect in dict.fromkeys(row.dialect for row in every_row()):
        for op in ("QuantizeLinear", "DequantizeLinear"):
            rows = [row for row in every_row() if row.dialect == dialect and row.op == op]
            parts.append(f"## {op} of {dialect}\n\n{table(rows)}")
    parts.append(f"## What a target lacks\n\n{LOWERINGS}\n{_lowerings()}")
    return "\n".join(parts)


LOWERINGS = """It is said otherwise by these lowerings, alone or one after the other. Reports name the ones that were used.
"""


def _lowerings() -> str:
    lines = [("lowering", "what it does"), ("---", "---"), *((f"`{low.NAME}`", _summary(low)) for low in all_lowerings())]
    return "".join(f"| {name} | {said} |\n" for name, said in lines)


def _summary(lowering: object) -> str:
    """The docstring up to the first stop, without a reference in brackets."""
    paragraph = " ".join((inspect.getdoc(lowering) or "").split("\n\n")[0].split())
    return re.sub(r"\s*\([^)]*\)$", "", re.split(r"[.:;](?:\s|$)", paragraph)[0]).replace("``", "`")


SUPPORT = """The table `qdqtool/capabilities.py` as the converter reads it. Where a version lists what is new, it holds
everything of the one before, too. What a target lacks is rewritten with what it has, or refused.
"""

PAGES = {"docs/cli.md": cli_page, "docs/support.md": support_page, "docs/targets.md": targets.page}


def pages() -> dict[Path, str]:
    """Every page that is generated or holds examples, as it should be."""
    generated = {ROOT / name: page() for name, page in PAGES.items()}
    generated |= {HERE / name: page for name, page in rules.pages().items()}
    written = [ROOT / "README.md", *sorted(HERE.glob("*.md"))]
    shown = [path for path in written if path not in generated]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return generated | dict(zip(shown, pool.map(replayed, (path.read_text(encoding="utf-8") for path in shown)), strict=True))


def stale(pages: dict[Path, str]) -> list[str]:
    """Pages that differ from what they should be."""
    differing = [path for path, text in pages.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    left = [path for path in HERE.glob("rules/*.md") if path not in pages]
    return [str(path.relative_to(ROOT)) for path in [*differing, *left]]


def main(arguments: list[str]) -> int:
    wanted = pages()
    outdated = stale(wanted)
    if arguments == ["--check"]:
        for name in outdated:
            print(f"{name} is out of date: run python -m docs.build")
        return 1 if outdated else 0
    for path in HERE.glob("rules/*.md"):
        path.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
