"""The documentation says what is there: generated pages are fresh, examples run and print what is shown, links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import build, examples

ROOT = examples.ROOT
TEXTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)#:]+)(#[^)]*)?\)")


def test_pages_are_fresh() -> None:
    assert build.stale(build.pages()) == []


def test_readme_has_exactly_two_set_up_lines() -> None:
    setup = examples.SETUP.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(setup) == 2
    assert all(len(block.splitlines()) == 1 and block.startswith("python3 -m venv .venv && ") for block in setup)


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_every_block_is_run_or_generated(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    kinds = set(re.findall(r"^```(\w*)\n", text, re.MULTILINE)) - {""}
    more = {"README.md": {"sh"}, "ci.md": {"yaml", "groovy"}}.get(page.name, set())  # test_ci.py reads the latter
    assert kinds <= {"console", "python"} | more | ({"text"} if build.GENERATED in text else set())


@pytest.mark.parametrize("page", [page for page in TEXTS if "```console" in page.read_text(encoding="utf-8")], ids=lambda page: page.name)
def test_no_example_ends_in_a_traceback(page: Path) -> None:
    for block in examples.CONSOLE.findall(page.read_text(encoding="utf-8")):
        assert "Traceback" not in block
        assert len(block.splitlines()) > 1


def test_python_examples_run() -> None:
    blocks = [block for page in TEXTS for block in examples.PYTHON.findall(page.read_text(encoding="utf-8"))]
    assert blocks
    with examples.workspace() as folder:
        for block in blocks:
            assert "Traceback" not in examples.run(["-c", block], folder)


@pytest.mark.parametrize("page", [*TEXTS, ROOT / "docs" / "rules" / "index.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    missing = [target for target, _ in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / target).exists()]
    assert missing == []


def test_every_command_is_documented() -> None:
    from qdqtool.cli.group import COMMANDS

    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"## qdqtool {name}\n" not in page] == []
