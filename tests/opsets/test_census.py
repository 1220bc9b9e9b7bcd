"""The census: every two versions of every operator, and onnx's node tests to other opsets; nothing wrong, nothing invalid."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from zlib import crc32

import pytest

from qdqtool.opsets import schemas

from . import census, impossible
from .census import Outcome, Pair

PAIRS = census.pairs()

# Pairs that nobody can judge here, or whose first end cannot be written.
UNJUDGED = {
    **dict.fromkeys(("GlobalLpPool", "MaxRoiPool", "Multinomial"), "ONNX Runtime 1.32 and onnx's evaluator have no kernel at 22"),
    "RoiAlign": "ONNX Runtime 1.32 has no kernel at 22, and onnx's evaluator does not know how 10 places its samples",
    **dict.fromkeys(("Optional", "OptionalGetElement", "OptionalHasElement"), "ONNX Runtime's Python cannot pass optional values"),
    **dict.fromkeys(("Scatter", "Upsample"), "the newest version is deprecated, so that no node can be of it"),
}


def sample(items: Iterable[Pair], every: int) -> list[Pair]:
    return [item for item in items if crc32(str(item).encode()) % every == 0]


def count(chosen: Iterable[Pair]) -> tuple[Counter[str], dict[Pair, Outcome]]:
    words: Counter[str] = Counter()
    odd: dict[Pair, Outcome] = {}
    for pair in chosen:
        if pair.op in census.LEFT_OUT:
            words["ladder"] += 1
            continue
        outcome = census.verdict(pair)
        words[outcome.word] += 1
        if outcome.word != "right":
            odd[pair] = outcome
    return words, odd


def faults(odd: dict[Pair, Outcome]) -> Iterator[str]:
    for pair, outcome in odd.items():
        if outcome.word in ("wrong", "invalid") or (outcome.word != "refused" and pair.op not in UNJUDGED):
            yield f"{pair}: {outcome.word} {outcome.detail}"
        elif outcome.word == "refused" and not impossible.excused(outcome.detail, min(pair.here, pair.there)):
            yield f"{pair}: {outcome.detail}"


def test_the_denominator_is_that_of_onnx() -> None:
    assert len(PAIRS) == 1822
    assert len({pair.op for pair in PAIRS}) == 156


def test_a_part_of_all_pairs_of_versions_moves() -> None:
    words, odd = count(sample(PAIRS, 5))
    assert list(faults(odd)) == []
    assert words["right"] > 300


@pytest.mark.full
def test_all_pairs_of_versions_move() -> None:
    words, odd = count(PAIRS)
    print(dict(words))
    assert list(faults(odd)) == []
    assert words["right"] >= 1690


def test_the_table_of_what_is_impossible_stays_small() -> None:
    assert len(impossible.ROWS) <= 60
    assert {op for row in impossible.ROWS for op in row.ops} <= set(schemas.operators())


OTHERS = (7, 9, 10, 12, 13, 15, 16, 17, 18, 20, 21, 22, 23, 24, 25, 27, 28)


def moves(every: int) -> Iterator[tuple[str, int, Outcome]]:
    for place, case in enumerate(census.node_tests()):
        for target in OTHERS:
            if target != case.opset and (every == 1 or crc32(f"{place} {target}".encode()) % every == 0):
                yield str(case), target, census.elsewhere(case, target)


@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.full)])
def test_node_tests_move_or_it_is_impossible(every: int) -> None:
    words: Counter[str] = Counter()
    wrong = []
    for case, target, outcome in moves(every):
        words[outcome.word] += 1
        bad = outcome.word in ("wrong", "invalid")
        if bad or (outcome.word == "refused" and not impossible.excused(outcome.detail, target)):
            wrong.append(f"{case} to {target}: {outcome.word} {outcome.detail}")
    print(dict(words))
    assert wrong == []
    assert words["right"] > 2 * words["refused"]


if __name__ == "__main__":
    everything = count(PAIRS)
    print(dict(everything[0]), file=sys.stderr)
    for pair, outcome in everything[1].items():
        print(pair, outcome.word, outcome.detail)
