"""What a model shall run in, written ``NAME[@VERSION]``: one file for each name, found by it.

A target has a ``NAME``, ``versions()`` for messages, and ``profile(version)``, where None means the newest that is known.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Protocol

from qdqtool.errors import Usage
from qdqtool.targets.profile import Profile

__all__ = ["Profile", "all_targets", "profile"]


class Runtime(Protocol):
    NAME: str

    def versions(self) -> tuple[str, ...]: ...

    def profile(self, version: str | None) -> Profile | None: ...


@cache
def all_targets() -> dict[str, Runtime]:
    """Every target by its name."""
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    return {m.NAME: m for m in modules if hasattr(m, "NAME")}


@cache
def profile(text: str) -> Profile:
    """The profile of ``NAME[@VERSION]``.

    Raises
    ------
    Usage
        Name or version are not known; the message lists what is.
    """
    name, at, version = text.partition("@")
    runtime = all_targets().get(name)
    if runtime is None:
        known = "; ".join(f"{n}@{v}" for n, r in all_targets().items() for v in (_span(r.versions()),))
        raise Usage("unknown-target", f"'{text}' is no target", why=f"known are {known}", hint="--for ort")
    found = runtime.profile(version if at else None)
    if found is None:
        newest = runtime.versions()[-1]
        why = f"known are {', '.join(runtime.versions())}"
        raise Usage("unknown-target", f"'{text}' is no known version of {name}", why=why, hint=f"--for {name}@{newest}")
    return found


def _span(versions: tuple[str, ...]) -> str:
    return f"{versions[0]} to {versions[-1]}"
