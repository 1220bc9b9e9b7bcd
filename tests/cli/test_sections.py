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


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["convert", "m.onnx", "--opset", "13", "--opset", "13"], "--opset"),
        (["convert", "m.onnx", "--for", "ort", "--for=tvm"], "--for"),
        (["convert", "m.onnx", "-o", "a", "--output", "b"], "-o / --output"),
        (["fold", "m.onnx", "--pairs", "--no-pairs"], "--pairs / --no-pairs"),
        (["inspect", "m.onnx", "--json", "a", "--json", "b"], "--json"),
        (["targets", "--json", "a", "--json", "b"], "--json"),
        (["rules", "--json", "a", "--json", "b"], "--json"),
        (["validate", "m.onnx", "--for", "ort", "--for", "tvm"], "--for"),
    ],
)
def test_an_option_with_one_value_is_given_once(qdqtool: Callable[..., Run], arguments: list[str], option: str) -> None:
    run = qdqtool(*arguments)
    assert run.status == 2
    assert f"Error: {option} was given more than once\n" in run.err


def test_flags_and_lists_may_come_again(qdqtool: Callable[..., Run]) -> None:
    assert qdqtool("inspect", "fixtures/conv_13.onnx", "-q", "-q") == Run(0, "", "")
    run = qdqtool("convert", "fixtures/conv_13.onnx", "--dry-run", "--opset", "21", "--dim", "a=1", "--dim", "b=2", "--exact", "--exact")
    assert run.status == 0


def test_convert_names_every_dialect() -> None:
    from qdqtool.cli.convert import FUSED, SINGLE
    from qdqtool.dialects import all_dialects, fusible

    assert sorted({*SINGLE, *FUSED}) == sorted({*all_dialects(), *fusible()})
    assert len({*SINGLE, *FUSED}) == len((*SINGLE, *FUSED))
