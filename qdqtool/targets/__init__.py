"""What a model shall run in, written ``NAME[@VERSION]``: one file for each name, found by it.

A target has a ``NAME``, ``versions()`` for messages, and ``profile(version)``, where None means the newest that is known. With ``MODES``
its versions are modes, none of which is newer than another, so that one must be named.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Protocol, cast

from qdqtool.errors import Usage
from qdqtool.targets.profile import Profile, require_converts

__all__ = ["Profile", "all_targets", "convertible", "profile"]


class Runtime(Protocol):
    NAME: str

    def versions(self) -> tuple[str, ...]: ...

    def profile(self, version: str | None) -> Profile | None: ...


@cache
def all_targets() -> dict[str, Runtime]:
    """Every target by its name."""
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    return {m.NAME: m for m in modules if hasattr(m, "NAME")}


def _named(name: str) -> Runtime | None:
    """The target of that name, without the others, which take a while to load; its file is called like it."""
    module = name.replace("-", "_")
    known = module in (info.name for info in pkgutil.iter_modules(__path__))
    found = importlib.import_module(f"{__name__}.{module}") if known else None
    return cast("Runtime", found) if getattr(found, "NAME", None) == name else None


@cache
def profile(text: str) -> Profile:
    """The profile of ``NAME[@VERSION]``.

    Raises
    ------
    Usage
        Name or version are not known; the message lists what is.
    """
    name, at, version = text.partition("@")
    runtime = _named(name)
    if runtime is None:
        known = "; ".join(f"{n}@{_span(r.versions())}" if r.versions() else n for n, r in all_targets().items())
        raise Usage(
            "unknown-target",
            f"'{text}' is no target",
            why=f"known are {known}",
            hint="ort" + at + version if name.lower() in ("ort", "onnxruntime") else "ort",
        )
    if not at:
        _require_single(name, runtime)
    found = runtime.profile(version if at else None)
    if found is None and not runtime.versions():
        raise Usage("unknown-target", f"'{text}' is no known version of {name}", why="it has no versions here", hint=name)
    if found is None:
        why = f"known are {_span(runtime.versions())}; one that was not measured counts as the next lower one"
        nearest = min(runtime.versions(), key=lambda known: abs(_number(known) - _number(version)))
        raise Usage("unknown-target", f"'{text}' is no known version of {name}", why=why, hint=f"{name}@{nearest}")
    return found


def _require_single(name: str, runtime: Runtime) -> None:
    """Usage for a bare name that stands for several modes."""
    if getattr(runtime, "MODES", False):
        ways = [f"{name}@{mode}" for mode in runtime.versions()]
        raise Usage("ambiguous-target", f"'{name}' has several modes: say which", why=f"they are {', '.join(ways)}", hint=ways[-1])


def convertible(text: str) -> Profile:
    """As `profile`, of a target that models can be made for.

    Raises
    ------
    Usage
        It is unknown, or known only well enough to say what stands in the way.
    """
    found = profile(text)
    require_converts(found)
    return found


def _number(version: str) -> int:
    """Versions in order; what is no version counts as the newest."""
    parts = version.split(".")
    return sum(int(part) * 1000 ** (1 - place) for place, part in enumerate(parts[:2])) if all(p.isdigit() for p in parts[:2]) else 10**6


def _span(versions: tuple[str, ...]) -> str:
    return versions[0] if len(versions) == 1 else f"{versions[0]} to {versions[-1]}"
