from __future__ import annotations

import re
from collections.abc import Callable

import click
import pytest

from qdqtool.cli.group import group
from qdqtool.cli.sections import REST, Sectioned
from tests.conftest import Run


@pytest.mark.parametrize("name", ["convert", "fold"])
def test_every_option_stands_under_one_heading(qdqtool: Callable[..., Run], name: str) -> None:
    command = group.get_command(click.Context(group), name)
    assert isinstance(command, Sectioned)
    said = qdqtool(name, "--help").out
    assert re.findall(r"^(\w[\w ]*):\n", said, re.MULTILINE) == [*command.sections, REST]
    options = [o for p in command.params if isinstance(p, click.Option) for o in (*p.opts, *p.secondary_opts)]
    listed = re.findall(r"(?<![\w-])--?[a-z][a-z-]*", " ".join(re.findall(r"^  (-.*?)(?:  |$)", said, re.MULTILINE)))
    assert sorted(listed) == sorted([*options, "-h", "--help"])


@pytest.mark.parametrize("name", ["convert", "fold"])
def test_headings_name_options_that_exist(name: str) -> None:
    command = group.get_command(click.Context(group), name)
    assert isinstance(command, Sectioned)
    named = [option for options in command.sections.values() for option in options]
    assert set(named) <= {p.name for p in command.params}
    assert len(named) == len(set(named))
