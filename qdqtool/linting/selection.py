"""Which rules run on which file: codes (``QDQ203``), their beginnings (``QDQ2``) and names (``scale-not-finite``)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from qdqtool.errors import Usage
from qdqtool.rules import Rule, all_rules, name_of


@dataclass(frozen=True, slots=True)
class Selection:
    """Words for rules; `per_file` holds pairs of a pattern for paths and the words that are ignored there."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()


def require_known(selection: Selection) -> None:
    """Usage when a word means no rule."""
    for word in (*selection.select, *selection.ignore, *(word for _, words in selection.per_file for word in words)):
        if not any(means(word, code, name_of(rule)) for code, rule in all_rules().items()):
            hint = "`qdqtool rules` lists codes and names; the beginning of a code stands for all that share it"
            raise Usage("unknown-rule", f"'{word}' is no rule", hint=hint)


def chosen(selection: Selection, path: str) -> list[Rule]:
    """The rules for a file, in the order of their codes."""
    ignored = selection.ignore + tuple(word for pattern, words in selection.per_file if covers(pattern, path) for word in words)
    return [rule for code, rule in all_rules().items() if _on(code, name_of(rule), selection.select, ignored)]


def covers(pattern: str, path: str) -> bool:
    """Whether a pattern means a file: by its path below the root, by its name, or by a folder that it lies in."""
    return fnmatchcase(path, pattern) or fnmatchcase(path.rpartition("/")[2], pattern) or fnmatchcase(path, f"{pattern.rstrip('/')}/*")


def means(word: str, code: str, name: str) -> bool:
    """Whether a word means a rule."""
    return bool(word) and (word == name or code.startswith(word.upper()))


def _on(code: str, name: str, select: Iterable[str], ignore: Iterable[str]) -> bool:
    """The longer word wins, so that one rule can be taken out of a group that is ignored, and the other way round."""
    wanted = max((_weight(word, name) for word in select if means(word, code, name)), default=0)
    unwanted = max((_weight(word, name) for word in ignore if means(word, code, name)), default=0)
    return wanted > unwanted or (unwanted == 0 and not select)


def _weight(word: str, name: str) -> int:
    return 1000 if word == name else len(word)
