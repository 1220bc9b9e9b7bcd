from __future__ import annotations

from pathlib import Path

import pytest

from qdqtool.errors import Usage
from qdqtool.linting.config import Config, nearest

FULL = """
for = "ort@1.19"
select = ["QDQ2"]
ignore = ["scale-zero"]
exclude = ["broken/*"]
fail-on = "warning"
baseline = "known.json"
[per-file-ignores]
"old/*" = ["QDQ3"]
"""


def test_everything(tmp_path: Path) -> None:
    (tmp_path / "qdqtool.toml").write_text(FULL)
    assert nearest(tmp_path) == Config(
        tmp_path,
        tmp_path / "qdqtool.toml",
        "ort@1.19",
        ("QDQ2",),
        ("scale-zero",),
        (("old/*", ("QDQ3",)),),
        ("broken/*",),
        "warning",
        tmp_path / "known.json",
    )


def test_the_nearest_counts_and_pyproject_needs_the_table(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.qdqtool]\nfor = "ort@1.20"\n')
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert (nearest(inner).target, nearest(inner).root) == ("ort@1.20", tmp_path)
    (tmp_path / "a" / "qdqtool.toml").write_text('for = "ort@1.21"\n')
    assert (nearest(inner).target, nearest(inner).root) == ("ort@1.21", tmp_path / "a")


def test_an_own_file_goes_before_a_shared_one(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.qdqtool]\nfor = "ort@1.20"\n')
    (tmp_path / "qdqtool.toml").write_text("")
    assert nearest(tmp_path).target is None


def test_an_empty_table_is_a_setting(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.qdqtool]\n")
    assert nearest(tmp_path).file == tmp_path / "pyproject.toml"


def test_a_file_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "lint.toml").write_text('fail-on = "info"\n')
    (tmp_path / "pyproject.toml").write_text('[tool.qdqtool]\nfail-on = "warning"\n')
    assert nearest(tmp_path / "lint.toml").fail_on == "info"
    assert nearest(tmp_path / "pyproject.toml").fail_on == "warning"
    with pytest.raises(Usage, match=r"nothing\.toml does not exist"):
        nearest(tmp_path / "nothing.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selct = ['QDQ2']", "'selct' is no setting"),
        ("select = 'QDQ2'", "'select' is not a list of strings"),
        ("ignore = [1]", "'ignore' is not a list of strings"),
        ("for = 3", "'for' is not a string"),
        ("baseline = []", "'baseline' is not a string"),
        ("fail-on = 'never'", "'fail-on' is not one of error, warning, info"),
        ("per-file-ignores = []", "'per-file-ignores' is not a table from patterns of paths to lists of rules"),
        ("[per-file-ignores]\n'a*' = 'QDQ2'", "'per-file-ignores.a\\*' is not a list of strings"),
        ("select = [", "is no TOML"),
    ],
)
def test_what_makes_no_sense_is_said(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "qdqtool.toml").write_text(text)
    with pytest.raises(Usage, match=message) as caught:
        nearest(tmp_path)
    assert str(tmp_path / "qdqtool.toml") in str(caught.value)


def test_a_table_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\nqdqtool = 1\n")
    with pytest.raises(Usage, match="'qdqtool' is not a table"):
        nearest(tmp_path)
