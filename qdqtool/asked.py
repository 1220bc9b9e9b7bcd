"""Arguments of the Python API that make no sense, told before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from qdqtool.errors import Usage

Word = TypeVar("Word", str, str | Path)


def listed(given: Word | Sequence[Word]) -> tuple[Word, ...]:
    """A single word or path is a list of one: a string must not be taken letter by letter."""
    return (given,) if isinstance(given, str | Path) else tuple(given)


def require_number(name: str, value: Any) -> None:
    """Usage for what is neither None nor a whole number."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise Usage("wrong-argument", f"{name}={value!r} is no whole number", hint=f"for example {name}=21")


def require_one(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Usage for what is not among the choices."""
    if value not in choices:
        raise Usage("wrong-argument", f"{name}={value!r} is not known", hint=f"one of {', '.join(map(repr, choices))}")


def place(model: Any, output: str | Path | None, *, in_place: bool) -> Path | None:
    """Where the result goes, whole; Usage as `require_other`."""
    out = None if output is None else Path(output).absolute()
    if out is not None and isinstance(model, str | Path) and not in_place:
        require_other(Path(model), out)
    return out


def require_other(source: Path, out: Path) -> None:
    """Usage when a model would replace the one that it was made of."""
    if source.exists() and out.exists() and out.samefile(source):
        raise Usage("output-is-input", "the output is the input", where=str(out), hint="in_place=True replaces it")
