"""Lint rules: one file each, in the package of its hundred, found by it.

A rule module is called like its name (``scale_not_finite.py`` is ``scale-not-finite``); its docstring is its page in the docs. It has

``CODE``      ``QDQ203``; 1xx specification, 2xx values, 3xx patterns, 4xx runtimes
``SEVERITY``  of its findings, unless a problem says another
``STAGE``     "file" when it needs no more than the protobuf, which may be broken; else "graph"
``check``     a function ``(Subject) -> Iterable[Problem]``

and may have ``INSTEAD_OF``: codes of general rules whose findings at the same place its own findings make needless.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Protocol

from qdqtool.findings import Problem, Severity

if TYPE_CHECKING:
    from qdqtool.linting.subject import Subject

__all__ = ["Rule", "all_rules", "name_of"]

GROUPS = ("specification", "values", "patterns", "runtimes")


class Rule(Protocol):
    CODE: str
    SEVERITY: Severity
    STAGE: str

    def check(self, subject: Subject) -> Iterable[Problem]: ...


@cache
def all_rules() -> dict[str, Rule]:
    """Every rule by its code, in order."""
    names = [f"{__name__}.{group}" for group in GROUPS]
    packages = [importlib.import_module(name) for name in names]
    found = [f"{p.__name__}.{info.name}" for p in packages for info in pkgutil.iter_modules(p.__path__)]
    modules = [importlib.import_module(name) for name in found]
    return {m.CODE: m for m in sorted((m for m in modules if hasattr(m, "CODE")), key=lambda m: str(m.CODE))}


def name_of(rule: Rule) -> str:
    """``scale-not-finite``."""
    return rule.__name__.rpartition(".")[2].replace("_", "-")  # type: ignore[attr-defined,no-any-return]
