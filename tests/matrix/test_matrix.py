"""The matrix against its golden file, and what the golden file may hold."""

from __future__ import annotations

import re

import pytest

from tests.matrix import golden
from tests.matrix.cell import outcome, sums
from tests.matrix.cells import TARGETS, Cell, cases, chosen, forms, whole
from tests.matrix.excuses import TABLE

GOLDEN = golden.read()
RIGHT = "=evwpqt"


def _compare(cells: list[Cell]) -> None:
    wrong = []
    for case, target in cells:
        found = outcome(case, target)
        expected = GOLDEN[case.id][TARGETS.index(target)]
        if found.letter != expected:
            wrong.append(f"{case.id} to {target}: {found.letter} instead of {expected}. {found.detail}")
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize("form", forms())
def test_a_tenth_of_a_form(form: str) -> None:
    _compare(chosen(form))


@pytest.mark.full
@pytest.mark.parametrize("form", forms())
def test_a_whole_form(form: str) -> None:
    _compare(whole(form))


def test_the_golden_file_has_a_line_for_each_case() -> None:
    assert list(GOLDEN) == [c.id for c in cases()]
    assert {len(row) for row in GOLDEN.values()} == {len(TARGETS)}


def test_nothing_is_wrong_invalid_lost_or_refused_without_reason() -> None:
    faults = [f"{row} {name}" for name, row in GOLDEN.items() if re.search(f"[^{RIGHT}]", row)]
    assert not faults, "\n".join([f"{len(faults)} cases", *faults[:20]])


def test_the_sums_equal_all_pairs() -> None:
    total = sums(GOLDEN.values())
    assert sum(total[letter] for letter in RIGHT) == len(cases()) * len(TARGETS)


def test_a_model_already_there_comes_back_as_the_same_bytes() -> None:
    assert all(GOLDEN[c.id][TARGETS.index(c.opset)] == "=" for c in cases() if c.opset in TARGETS)


def test_the_table_of_other_refusals_is_short_and_each_row_is_used() -> None:
    assert len(TABLE) <= 40
    used = {(c.form, t) for c in cases() for t in TARGETS if GOLDEN[c.id][TARGETS.index(t)] == "t"}
    assert all(any((form, t) in used for t in targets) for form, targets in TABLE)


def test_the_tenth_has_every_form_and_every_target() -> None:
    for form in forms():
        assert {t for _, t in chosen(form)} == set(TARGETS)
