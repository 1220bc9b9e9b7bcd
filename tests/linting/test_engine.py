from __future__ import annotations

from onnx import parser

from qdqtool import targets
from qdqtool.errors import Unreadable
from qdqtool.findings import Fix, Problem
from qdqtool.linting.engine import FAILED, hits, linted
from qdqtool.linting.subject import Subject
from qdqtool.model.load import load
from qdqtool.rules import all_rules
from tests.linting.models import plain, rule

CYCLE = """<ir_version: 8, opset_import: ["" : 13]>
g (float[2] x) => (float[2] y) { [one] a = Add(x, b) [two] b = Neg(a) [three] y = Neg(b) }"""


def subject(text: str = "") -> Subject:
    return Subject(load(parser.parse_model(text) if text else plain(), trusting=True), targets.profile("ort"))


def everywhere(subject: Subject) -> list[Problem]:
    return [subject.problem(place, f"{len(subject.steps)} steps") for place in subject.steps]


def codes(found: object) -> list[str]:
    return [hit.code for hit in found]  # type: ignore[attr-defined]


def test_the_file_is_judged_before_the_graph() -> None:
    graph, file = rule("QDQ901", everywhere), rule("QDQ902", lambda s: [Problem("", "odd")], stage="file")
    assert codes(hits(subject(), [graph, file])) == ["QDQ902", "QDQ901", "QDQ901"]


def test_a_graph_that_cannot_be_read_is_left_alone() -> None:
    graph, file = rule("QDQ901", everywhere), rule("QDQ902", lambda s: [Problem("", s.unsound)], stage="file")
    found = list(hits(subject(CYCLE), [graph, file]))
    assert [(h.code, h.problem.message) for h in found] == [("QDQ902", "nodes wait for each other: one, two, three")]


def test_no_opset_is_a_graph_that_cannot_be_read() -> None:
    model = plain()
    del model.opset_import[:]
    assert Subject(load(model)).unsound == "the model does not say which opset of ai.onnx it uses"


def test_a_rule_that_fails_is_said_and_its_findings_stay() -> None:
    def check(subject: Subject) -> object:
        yield Problem("main / a", "found")
        raise KeyError("x")

    result = linted(subject(), [rule("QDQ901", check), rule("QDQ902", everywhere)])  # type: ignore[arg-type]
    assert [(f.code, f.severity) for f in result.findings] == [
        ("QDQ901", "error"),
        ("QDQ902", "error"),
        ("QDQ902", "error"),
        (FAILED, "warning"),
    ]
    assert result.findings[-1].message == "rule QDQ901 rule-qdq901 failed on this model and may have missed something: KeyError: 'x'"
    assert result.findings[-1].hint == "please report this with the model; --ignore QDQ901 leaves the rule out"


def test_unreadable_data_is_told_once() -> None:
    def check(subject: Subject) -> object:
        raise Unreadable("data-short", "the file is too short")

    broken = rule("QDQ101", lambda s: [Problem("", "short")], stage="file")
    reader = rule("QDQ901", check)  # type: ignore[arg-type]
    assert codes(hits(subject(), [broken, reader])) == ["QDQ101"]
    assert codes(hits(subject(), [reader])) == [FAILED]


def test_what_every_rule_would_stumble_over_is_told_once(monkeypatch: object) -> None:
    class Odd(Subject):
        @property
        def steps(self) -> object:  # type: ignore[override]
            raise RuntimeError("odd graph")

    odd = Odd(load(plain()))
    found = linted(odd, [rule("QDQ901", everywhere), rule("QDQ902", everywhere)]).findings
    assert [f.message for f in found] == ["the graph could not be read, so that most rules did not run: RuntimeError: odd graph"]


def test_worst_first_and_a_problem_may_say_its_own_severity() -> None:
    rules = [
        rule("QDQ901", lambda s: [Problem("", "a", severity="info"), Problem("", "b")], severity="warning"),
        rule("QDQ902", lambda s: [Problem("", "c")]),
    ]
    assert [(f.severity, f.message) for f in linted(subject(), rules).findings] == [("error", "c"), ("warning", "b"), ("info", "a")]


def test_findings_for_a_runtime_name_it() -> None:
    rules = [rule("QDQ499", lambda s: [Problem("", "a")]), rule("QDQ299", lambda s: [Problem("", "b")])]
    assert {f.code: f.runtime for f in linted(subject(), rules).findings} == {"QDQ499": str(targets.profile("ort")), "QDQ299": ""}


def test_a_rule_may_stand_for_others_at_the_same_place() -> None:
    special = rule("QDQ499", lambda s: [Problem("a", "special")])
    special.INSTEAD_OF = ("QDQ299",)
    rules = [rule("QDQ299", lambda s: [Problem("a", "general"), Problem("b", "elsewhere")]), special]
    assert [f.message for f in linted(subject(), rules).findings] == ["elsewhere", "special"]
    assert [f.message for f in linted(subject(), rules[:1]).findings] == ["general", "elsewhere"]


def test_rules_stand_for_rules_that_there_are() -> None:
    known = all_rules()
    assert {code for r in known.values() for code in getattr(r, "INSTEAD_OF", ())} <= set(known)


def test_a_fix_is_told_but_does_not_travel() -> None:
    def check(subject: Subject) -> list[Problem]:
        return [Problem("", "a", fix=Fix("mend it", True, lambda: None)), Problem("", "b", fix=Fix("bend it", False, lambda: None))]

    found = linted(subject(), [rule("QDQ901", check)]).findings
    assert [(f.fix, f.safe) for f in found] == [("mend it", True), ("bend it", False)]
