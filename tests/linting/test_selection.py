from __future__ import annotations

import pytest

from qdqtool.errors import Usage
from qdqtool.linting.selection import Selection, chosen, covers, means, require_known
from qdqtool.rules import all_rules, name_of


def codes(*, path: str = "a.onnx", **words: tuple[object, ...]) -> set[str]:
    return {rule.CODE for rule in chosen(Selection(**words), path)}  # type: ignore[arg-type]


ALL = set(all_rules())
VALUES = {code for code in ALL if code.startswith("QDQ2")}


def test_without_words_everything_runs_in_order() -> None:
    assert [rule.CODE for rule in chosen(Selection(), "")] == sorted(ALL)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"select": ("QDQ2",)}, VALUES),
        ({"select": ("qdq203",)}, {"QDQ203"}),
        ({"select": ("scale-not-finite",)}, {"QDQ203"}),
        ({"ignore": ("QDQ2",)}, ALL - VALUES),
        ({"ignore": ("scale-not-finite",)}, ALL - {"QDQ203"}),
        ({"select": ("QDQ2",), "ignore": ("QDQ203",)}, VALUES - {"QDQ203"}),
        ({"select": ("QDQ203",), "ignore": ("QDQ2",)}, {"QDQ203"}),
        ({"select": ("QDQ",), "ignore": ("QDQ",)}, set()),
        ({"select": ("scale-not-finite",), "ignore": ("QDQ203",)}, {"QDQ203"}),
    ],
)
def test_the_longer_word_wins(words: dict[str, tuple[str, ...]], expected: set[str]) -> None:
    assert codes(**words) == expected


def test_rules_are_ignored_by_file() -> None:
    per_file = (("old/*", ("QDQ2",)), ("b.onnx", ("QDQ203",)))
    assert codes(per_file=per_file) == ALL
    assert codes(per_file=per_file, path="old/a.onnx") == ALL - VALUES
    assert codes(per_file=per_file, path="new/b.onnx") == ALL - {"QDQ203"}


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("models/*.onnx", "models/a.onnx", True),
        ("models", "models/deep/a.onnx", True),
        ("models/", "models/a.onnx", True),
        ("a.onnx", "models/a.onnx", True),
        ("model", "models/a.onnx", False),
        ("*.onnx", "models/a.onnx", True),
        ("b*", "models/a.onnx", False),
    ],
)
def test_patterns(pattern: str, path: str, expected: bool) -> None:
    assert covers(pattern, path) is expected


def test_an_empty_word_means_nothing() -> None:
    assert not means("", "QDQ203", "scale-not-finite")


@pytest.mark.parametrize("field", ["select", "ignore"])
def test_unknown_words_are_refused(field: str) -> None:
    with pytest.raises(Usage, match="'QDQ9' is no rule"):
        require_known(Selection(**{field: ("QDQ203", "QDQ9")}))  # type: ignore[arg-type]
    with pytest.raises(Usage, match="'scale' is no rule"):
        require_known(Selection(per_file=(("*", ("scale",)),)))


def test_names_are_those_of_the_files() -> None:
    assert name_of(all_rules()["QDQ203"]) == "scale-not-finite"
    assert len({name_of(rule) for rule in all_rules().values()}) == len(ALL)
