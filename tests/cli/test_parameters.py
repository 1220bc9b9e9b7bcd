from __future__ import annotations

from pathlib import Path

import click
import pytest

from qdqtool.cli.parameters import Assignment, Format, IrVersion, Target, Words, exclusive


def test_assignment() -> None:
    assert Assignment().convert("batch=3", None, None) == ("batch", 3)


@pytest.mark.parametrize("text", ["batch", "batch=", "=3", "batch=0", "batch=-1", "batch=x", "batch=1.5"])
def test_not_an_assignment(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not NAME=N with N at least 1"):
        Assignment().convert(text, None, None)


def test_ir_version() -> None:
    assert [IrVersion().convert(text, None, None) for text in ("8", "keep")] == [8, "keep"]
    with pytest.raises(click.BadParameter, match="neither a number nor 'keep'"):
        IrVersion().convert("new", None, None)


def test_target() -> None:
    assert Target().convert("ort@1.17", None, None) == "ort@1.17"
    with pytest.raises(click.BadParameter, match="one target only"):
        Target().convert("ort,tvm", None, None)


def test_words() -> None:
    assert Words().convert("QDQ2,scale-zero QDQ101,", None, None) == ["QDQ2", "scale-zero", "QDQ101"]


def test_format() -> None:
    assert Format().convert("json", None, None) == ("json", None)
    assert Format().convert("json=a=b.json", None, None) == ("json", Path("a=b.json"))
    assert Format().convert("json=-", None, None) == ("json", None)
    for text, message in (("html", "not among .*json"), ("json=", "no file after 'json='")):
        with pytest.raises(click.BadParameter, match=message):
            Format().convert(text, None, None)


def test_exclusive() -> None:
    exclusive({"no_check": True, "require_check": False}, "no_check", "require_check")
    with pytest.raises(click.UsageError, match="--no-check and --require-check exclude each other"):
        exclusive({"no_check": True, "require_check": True}, "no_check", "require_check")
