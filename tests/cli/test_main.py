from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from qdqtool import __version__
from qdqtool.cli.group import COMMANDS, Entry, group
from tests.conftest import ROOT, Run

Command = Callable[..., Run]


@pytest.fixture
def failing(qdqtool: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setitem(COMMANDS, "fail", Entry("tests.cli.failing:fail", "Go wrong."))
    return lambda *arguments: qdqtool("fail", *arguments)


def test_help_lists_every_command_with_its_summary(qdqtool: Command) -> None:
    run = qdqtool("--help")
    assert (run.status, run.err) == (0, "")
    width = max(map(len, COMMANDS))
    assert all(f"  {name:<{width}}  {entry.summary}\n" in run.out for name, entry in COMMANDS.items())
    assert all(len(line) <= 80 for line in run.out.splitlines())


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_summary_in_the_table_is_not_the_only_help(qdqtool: Command, name: str) -> None:
    assert qdqtool(name, "-h") == qdqtool(name, "--help")
    assert f"Usage: qdqtool {name}" in qdqtool(name, "-h").out


def test_version(qdqtool: Command) -> None:
    assert qdqtool("--version") == Run(0, f"qdqtool, version {__version__}\n", "")


@pytest.mark.parametrize("arguments", [["nothing"], ["convert", "--nothing"], ["convert"], ["inspect"]])
def test_wrong_usage_is_status_2(qdqtool: Command, arguments: list[str]) -> None:
    run = qdqtool(*arguments)
    assert (run.status, run.out) == (2, "")
    assert run.err.startswith("Usage: qdqtool")


def test_without_arguments_help_is_shown(qdqtool: Command) -> None:
    run = qdqtool()
    assert run.status == 2
    assert "Usage: qdqtool" in run.err


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("interrupt", Run(130, "", "\ninterrupted\n")),
        ("disk", Run(2, "", "error: No space left on device  [file-access]\n  where      out.onnx\n")),
        ("unreadable", Run(2, "", "error: the model is cut off  [damaged-model]\n  hint       fetch it again\n")),
    ],
)
def test_what_goes_wrong_is_one_message(failing: Command, how: str, expected: Run) -> None:
    assert failing(how) == expected


def test_an_error_is_written_as_json_too(failing: Command, tmp_path: Path) -> None:
    assert failing("unreadable", "--json", "error.json", "-q").status == 2
    assert json.loads((tmp_path / "error.json").read_text(encoding="utf-8"))["error"]["code"] == "damaged-model"


def test_a_closed_pipe_is_no_error() -> None:
    run = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {sys.executable} -m qdqtool convert --help | head -c 1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-"])
def test_a_closed_output_is_no_error_and_harms_no_file(qdqtool: Command, tmp_path: Path, closed: str) -> None:
    command = f"{sys.executable} -m qdqtool convert fixtures/opset_13.onnx -o out.onnx --opset 17 {closed}"
    run = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert "opset      ai.onnx 17" in qdqtool("inspect", "out.onnx").out


def test_help_costs_little() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "qdqtool", "--help"], cwd=ROOT, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.2


def test_the_group_imports_no_command_for_its_help() -> None:
    code = "from qdqtool.cli import main; main(['--help']); import sys; sys.exit('qdqtool.cli.convert' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False).returncode == 0


def test_every_option_has_help() -> None:
    import click

    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        assert [p.name for p in command.params if isinstance(p, click.Option) and not p.help] == []
