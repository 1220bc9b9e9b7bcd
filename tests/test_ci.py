"""The files that other people's CI reads: the GitHub action's script and the pre-commit hook do what docs/ci.md says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import click
import pytest

from qdqtool.cli.group import group
from qdqtool.targets import profile
from tests.conftest import ROOT, furnish

ACTION = (ROOT / ".github" / "actions" / "validate" / "action.yml").read_text(encoding="utf-8")
HOOKS = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
INPUTS = re.findall(r"^  ([a-z-]+):\n    description: .*\n    default: (.*)$", ACTION, re.MULTILINE)


def last_script() -> str:
    """The shell script of the action's last step."""
    return textwrap.dedent(ACTION.rpartition("run: |\n")[2])


def run(script: str, folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    command = f'qdqtool() {{ {shlex.quote(sys.executable)} -m qdqtool "$@"; }}\n{script}'
    here = os.environ | {"PYTHONPATH": str(ROOT)} | given
    return subprocess.run(["bash", "-e", "-c", command], cwd=folder, env=here, capture_output=True, text=True)


SOUND, SHIFTED, FLAWED = "fixtures/conv_13.onnx", "fixtures/subgraph_21.onnx", "fixtures/flawed"
"""Nothing to find; negative scales, which are an info; an error."""


@pytest.mark.parametrize(
    ("model", "target", "fail_on", "status"),
    [
        (SHIFTED, "", "warning", 0),
        (SHIFTED, "", "info", 1),
        (SHIFTED, "ort@1.17", "error", 1),
        (FLAWED, "", "error", 1),
    ],
)
def test_the_action_annotates_and_fails(tmp_path: Path, model: str, target: str, fail_on: str, status: int) -> None:
    furnish(tmp_path)
    paths = f"{SOUND}\n\n{model}\n"
    found = run(last_script(), tmp_path, PATHS=paths, TARGET=target, FAIL_ON=fail_on, SARIF="out.sarif")
    assert (found.returncode, found.stderr) == (status, "")
    assert found.stdout.splitlines()
    assert all(line.startswith("::") and f"file={model}" in line for line in found.stdout.splitlines())
    assert (tmp_path / "out.sarif").is_file()


def test_every_input_is_used_and_documented() -> None:
    names = [name for name, _ in INPUTS]
    assert names == ["paths", "for", "fail-on", "sarif"]
    assert all(f"inputs.{name} " in ACTION and f"| `{name}` |" in PAGE for name in names)


def test_workflows_give_the_action_what_it_takes() -> None:
    used = re.findall(r"uses: OWNER/qdqtool/(\S+)@.*\n(?: +id: .*\n)? +with:\n((?: {10}\S.*\n)+)", PAGE)
    assert used
    for folder, given in used:
        assert (ROOT / folder / "action.yml").is_file()
        assert set(re.findall(r"^ {10}([a-z-]+):", given, re.MULTILINE)) <= {name for name, _ in INPUTS}


def test_commands_of_the_page_are_understood() -> None:
    lines = re.findall(r"(?:- |sh ')qdqtool (.*?)'?$", PAGE, re.MULTILINE)
    hooks = re.findall(r"id: (\S+)\n +args: \[(.*)\]", PAGE)
    assert (len(lines), [name for name, _ in hooks]) == (2, re.findall(r"- id: (\S+)", HOOKS))
    for words in [shlex.split(line) for line in lines] + [["validate", *given.split(", "), "models"] for _, given in hooks]:
        command = group.get_command(click.Context(group), words[0])
        assert command is not None
        profile(command.make_context(words[0], words[1:]).params["target"])


def test_the_hook_runs_on_the_files_it_is_given(tmp_path: Path) -> None:
    furnish(tmp_path)
    entry = re.findall(r"entry: (.*)", HOOKS)
    assert entry == ["qdqtool validate"]
    found = run(shlex.join([*shlex.split(entry[0]), "fixtures/conv_13.onnx", "fixtures/opset_21.onnx"]), tmp_path)
    assert found.returncode == 0, found.stdout + found.stderr
