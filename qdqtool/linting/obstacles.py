"""What a runtime refuses of a model, for a conversion: the errors of the 4xx."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from qdqtool.linting.engine import hits
from qdqtool.linting.subject import Subject
from qdqtool.rules import all_rules, name_of
from qdqtool.targets import demands

OF_OPERATORS = frozenset(("operator-without-kernel", "operands-not-supported", "packed-form-not-supported", "computed-otherwise"))
"""Rules about fused operators, which a conversion can split."""
OF_STEPS = demands.RULES | {
    *("codes-not-supported", "real-type-not-supported", "granularity-not-supported", "attribute-not-supported"),
    *("opset-out-of-reach", "ir-version-too-new"),
}
"""Rules whose complaints a conversion takes away where it can, and tells of otherwise."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A place, the rule that it breaks, how, and a way out."""

    at: str
    rule: str
    message: str
    hint: str


def obstacles(subject: Subject, *, among: Collection[str] = (), without: Collection[str] = ()) -> list[Obstacle]:
    """The errors of rules `among` these, or of all but those left out."""
    rules = [rule for code, rule in all_rules().items() if code.startswith("QDQ4") and _meant(name_of(rule), among, without)]
    severities = {rule.CODE: rule.SEVERITY for rule in rules}
    errors = (hit for hit in hits(subject, rules) if (hit.problem.severity or severities.get(hit.code)) == "error")
    return [Obstacle(hit.problem.at or "the model", hit.rule, hit.problem.message, _hint(hit.problem.hint)) for hit in errors]


def _meant(name: str, among: Collection[str], without: Collection[str]) -> bool:
    return name in among if among else name not in without


def _hint(hint: str) -> str:
    """Not the command that is running."""
    return "" if hint.startswith("qdqtool convert") else hint


def unwanted(subject: Subject) -> frozenset[str]:
    """Titles of the operators that the runtime has something against, step or not."""
    return frozenset(obstacle.at for obstacle in obstacles(subject, among=OF_OPERATORS))
