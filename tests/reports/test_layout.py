from __future__ import annotations

import pytest

from qdqtool.reports.layout import columns, count, entry, paragraph, size


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (3_400_000_000, "3.4 GB"),
        (5e15, "5000.0 TB"),
    ],
)
def test_size(number: float, text: str) -> None:
    assert size(number) == text


def test_count() -> None:
    assert [count(1, "node"), count(0, "node"), count(2000, "entry", "entries")] == ["1 node", "0 nodes", "2,000 entries"]


def test_an_entry_hangs_beside_its_label() -> None:
    assert entry("why", "one two three four five six", 33).plain == "  why        one two three four\n             five six\n"


def test_brackets_are_text_and_names_stay_whole() -> None:
    name = "/model/" + "a" * 60 + "[4096,4096]"
    assert entry("where", f"main {name}", 40).plain.splitlines()[1].strip() == name


def test_paragraph_indents_what_follows() -> None:
    assert paragraph("error: " + "word " * 9, 31, hanging=7).plain == "error: word word word word word\n       word word word word\n"


def test_columns_align_and_leave_no_trailing_space() -> None:
    table = columns(("name", "number"), [("a", "1"), ("longer", "1,000")], right=1).plain
    assert table == "    name    number\n    a            1\n    longer   1,000\n"


def test_a_style_ends_with_its_part() -> None:
    text = paragraph("heading", 80, style="bold").append(entry("why", "because", 80, style="green"))
    assert text.style == ""
    assert [(text.plain[span.start : span.end].strip(), str(span.style)) for span in text.spans] == [
        ("heading", "bold"),
        ("why", "dim"),
        ("because", "green"),
    ]
