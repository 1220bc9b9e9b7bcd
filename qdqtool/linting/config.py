"""What a project asks of the linter: ``qdqtool.toml``, or ``[tool.qdqtool]`` in ``pyproject.toml``, in the nearest folder upward."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from qdqtool.errors import Usage
from qdqtool.findings import SEVERITIES, Severity

OWN, SHARED, TABLE = "qdqtool.toml", "pyproject.toml", "qdqtool"


@dataclass(frozen=True, slots=True)
class Config:
    """Settings of a project; `root` is the folder of the file, or the working folder where there is none."""

    root: Path
    file: Path | None = None
    target: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    fail_on: Severity = "error"
    baseline: Path | None = None


def nearest(start: Path) -> Config:
    """The settings in a file, or those in force in a folder; Usage when they make no sense."""
    whole = Path(os.path.abspath(start))
    if not whole.is_dir():
        return _read(whole)
    for folder in (whole, *whole.parents):
        if (folder / OWN).is_file():
            return _config(folder / OWN, _parsed(folder / OWN))
        table = _parsed(folder / SHARED).get("tool", {}).get(TABLE) if (folder / SHARED).is_file() else None
        if table is not None:
            return _config(folder / SHARED, table)
    return Config(whole)


def _read(path: Path) -> Config:
    if not path.exists():
        raise Usage("no-config", f"{path} does not exist", hint=f"a {OWN}, or a {SHARED} with a table [tool.{TABLE}]")
    table = _parsed(path)
    return _config(path, table.get("tool", {}).get(TABLE, {}) if path.name == SHARED else table)


def _parsed(path: Path) -> dict[str, Any]:
    import tomllib  # most runs have no settings

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Usage("broken-config", f"{path} is no TOML", why=str(error)) from None


def _config(path: Path, table: Any) -> Config:
    whole = Path(os.path.abspath(path))
    found = Config(whole.parent, whole)
    if not isinstance(table, Mapping):
        raise _wrong(path, TABLE, "a table")
    for key, value in table.items():
        if key not in _KEYS:
            raise Usage("unknown-setting", f"'{key}' is no setting", where=str(path), why=f"known are {', '.join(_KEYS)}")
        field, reader = _KEYS[key]
        found = replace(found, **{field: reader(path, key, value)})
    return found


def _word(path: Path, key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong(path, key, "a string")
    return value


def _words(path: Path, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _wrong(path, key, "a list of strings")
    return tuple(value)


def _patterns(path: Path, key: str, value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, Mapping):
        raise _wrong(path, key, "a table from patterns of paths to lists of rules")
    return tuple((pattern, _words(path, f"{key}.{pattern}", words)) for pattern, words in value.items())


def _severity(path: Path, key: str, value: Any) -> Severity:
    for severity in SEVERITIES:
        if severity == value:
            return severity
    raise _wrong(path, key, f"one of {', '.join(SEVERITIES)}")


def _beside(path: Path, key: str, value: Any) -> Path:
    return Path(os.path.abspath(path)).parent / _word(path, key, value)


def _wrong(path: Path, key: str, wanted: str) -> Usage:
    return Usage("wrong-setting", f"'{key}' is not {wanted}", where=str(path))


_KEYS: Mapping[str, tuple[str, Callable[[Path, str, Any], Any]]] = {
    "for": ("target", _word),
    "select": ("select", _words),
    "ignore": ("ignore", _words),
    "per-file-ignores": ("per_file", _patterns),
    "exclude": ("exclude", _words),
    "fail-on": ("fail_on", _severity),
    "baseline": ("baseline", _beside),
}
