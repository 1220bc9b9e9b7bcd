"""The model files that paths stand for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from qdqtool.errors import Usage
from qdqtool.linting.selection import covers


def find(paths: Sequence[Path], root: Path, exclude: Sequence[str] = ()) -> list[Path]:
    """Files as they are named, and every ``.onnx`` below folders, sorted; each once.

    Links to folders are followed, once each. Hidden folders and what `exclude` covers are left out below a folder, not when named.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        members = _below(path, root, exclude) if path.is_dir() else [path]
        for member in members:
            found.setdefault(Path(os.path.abspath(member)), member)
    if not found:
        raise Usage("no-models", f"no .onnx file is below {', '.join(map(str, paths)) or 'nothing'}", hint="name a file or another folder")
    return list(found.values())


def below(path: Path, root: Path) -> str:
    """The path below `root`, else whole, with ``/``."""
    whole = Path(os.path.abspath(path))
    return (whole.relative_to(root) if whole.is_relative_to(root) else whole).as_posix()


def _below(folder: Path, root: Path, exclude: Sequence[str]) -> list[Path]:
    found = []
    for place in _folders(folder):
        with os.scandir(place) as entries:
            members = [Path(entry.path) for entry in entries if entry.name.lower().endswith(".onnx") and _is_file(entry)]
        found += [m for m in members if not any(covers(pattern, below(m, root)) for pattern in exclude)]
    return sorted(found)


def _folders(folder: Path) -> Iterable[Path]:
    seen: set[tuple[int, int]] = set()
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        state = place.stat()
        if (state.st_dev, state.st_ino) not in seen and os.access(place, os.R_OK | os.X_OK):
            seen.add((state.st_dev, state.st_ino))
            yield place
            waiting += _inner(place)


def _inner(place: Path) -> Iterator[Path]:
    with os.scandir(place) as entries:
        yield from (
            Path(e.path)
            for e in sorted(entries, key=lambda e: e.name, reverse=True)
            if not e.name.startswith(".") and os.path.isdir(e.path)
        )


def _is_file(entry: os.DirEntry[str]) -> bool:
    """A file, or a link that leads nowhere, which is worth an error."""
    return os.path.isfile(entry.path) or (entry.is_symlink() and not os.path.exists(entry.path))
