from __future__ import annotations

from typing import Any

import pytest
from onnx import ModelProto

from qdqtool.findings import Problem
from qdqtool.linting.engine import linted
from qdqtool.linting.subject import Subject
from qdqtool.linting.suppression import KEY, suppression
from qdqtool.model.load import load
from tests.linting.models import nested, rule

MAIN, BRANCH, CALL = "main", "main / branch", "main / call"
THEN, ELSE, BODY = "main / branch.then_branch / inner", "main / branch.else_branch / inner", "function F / body"
PLACES = ("", MAIN, BRANCH, CALL, THEN, ELSE, BODY)


def silent(model: ModelProto, code: str = "QDQ203", name: str = "scale-not-finite") -> set[str]:
    found = suppression(model)
    return {place for place in PLACES if found.silences(code, name, place)}


def ignoring(holder: Any, words: str) -> None:
    holder.metadata_props.add(key=KEY, value=words)


@pytest.mark.parametrize("words", ["QDQ203", "QDQ2", "scale-not-finite", "QDQ3, QDQ203", "QDQ101 qdq2"])
def test_words_mean_rules(words: str) -> None:
    model = nested()
    ignoring(model.graph.node[1], words)
    assert silent(model) == {CALL}
    assert silent(model, "QDQ401", "other") == set()


def test_the_model_ignores_everywhere() -> None:
    model = nested()
    ignoring(model, "QDQ203")
    assert silent(model) == set(PLACES)


def test_a_graph_ignores_in_itself_and_below() -> None:
    model = nested()
    ignoring(model.graph, "QDQ203")
    assert silent(model) == {MAIN, BRANCH, CALL, THEN, ELSE}


def test_a_node_ignores_in_its_subgraphs() -> None:
    model = nested()
    ignoring(model.graph.node[0], "QDQ203")
    assert silent(model) == {BRANCH, THEN, ELSE}


def test_a_subgraph_ignores_in_itself() -> None:
    model = nested()
    ignoring(model.graph.node[0].attribute[0].g, "QDQ203")
    assert silent(model) == {THEN}


def test_a_function_ignores_in_itself() -> None:
    model = nested()
    ignoring(model.functions[0], "QDQ203")
    assert silent(model) == {BODY}


def test_a_node_is_not_taken_for_one_whose_name_begins_alike() -> None:
    model = nested()
    model.graph.node[1].name = "branch.then"
    ignoring(model.graph.node[0], "QDQ203")
    assert not suppression(model).silences("QDQ203", "scale-not-finite", "main / branch.then")


def test_silenced_findings_are_kept_apart() -> None:
    model = nested()
    ignoring(model.graph.node[1], "QDQ901")

    def check(subject: Subject) -> list[Problem]:
        return [subject.problem(place, "odd") for place, _, _ in subject.view.places()]

    result = linted(Subject(load(model)), [rule("QDQ901", check)])
    assert [f.at for f in result.suppressed] == [CALL]
    assert [f.at for f in result.findings] == [BRANCH, THEN, ELSE, BODY]


def test_titles_are_those_of_findings() -> None:
    model = nested()
    subject = Subject(load(model))
    assert {subject.view.title(place) for place, _, _ in subject.view.places()} == set(PLACES) - {"", MAIN}
