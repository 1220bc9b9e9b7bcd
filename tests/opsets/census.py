"""Every operator at every pair of its versions from opset 7 on: is there a real node that moves and computes the same?

Nodes are those of onnx's own node tests and of `sources`, brought to each version of their operator; a pair is judged by
running both ends in ONNX Runtime, or in onnx's reference evaluator where it lacks a kernel.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.reference import ReferenceEvaluator

from qdqtool.opsets import schemas
from qdqtool.opsets.adapt import Adapted

from . import adapting, sources
from .adapting import Around, Case

OLDEST, NEWEST = 7, 28
MOST = 6
"""Nodes looked at for each version of an operator."""

# They belong to the capability table.
LEFT_OUT = {"QuantizeLinear", "DequantizeLinear"}


@dataclass(frozen=True)
class Pair:
    op: str
    here: int
    there: int

    def __str__(self) -> str:
        return f"{self.op} {self.here}>{self.there}"


@dataclass
class Outcome:
    """`word` is right, wrong, invalid, refused, unjudged or no source."""

    word: str
    detail: str = ""
    others: list[str] = field(default_factory=list)


def versions(op: str) -> list[int]:
    """Opsets from 7 on at which a version of the operator came into force."""
    since = [v for v in schemas.versions(op) if v <= NEWEST]
    first = max((v for v in since if v <= OLDEST), default=None)
    return ([OLDEST] if first is not None else []) + [v for v in since if v > OLDEST]


def pairs() -> list[Pair]:
    """Both ways between every two versions of every operator."""
    return [Pair(op, a, b) for op in schemas.operators() for a in versions(op) for b in versions(op) if a != b]


@cache
def _node_tests() -> Mapping[str, list[Case]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    by_op: dict[str, list[Case]] = {}
    for test in found:
        if test.model is None or len(test.model.graph.node) != 1 or test.model.functions or test.model.graph.node[0].domain:
            continue
        arrays = [numpy_helper.to_array(a) if isinstance(a, TensorProto) else a for a in test.data_sets[0][0]]
        if not all(isinstance(a, np.ndarray) or np.isscalar(a) for a in arrays) or "_expanded" in test.name or "loop" in test.name:
            continue
        node = test.model.graph.node[0]
        given = {v.name: np.asarray(a) for v, a in zip(test.model.graph.input, arrays, strict=False)}
        by_op.setdefault(node.op_type, []).append(Case(node, test.model.opset_import[0].version, Around(given)))
    return by_op


def fixed(case: Case) -> Case:
    """The same with all operands but the first as constants."""
    first, rest = case.node.input[:1], case.node.input[1:]
    feeds = {name: a for name, a in case.around.feeds.items() if name in first and name not in rest}
    constants = {name: a for name, a in case.around.feeds.items() if name not in feeds}
    return replace(case, around=replace(case.around, feeds=feeds, constants={**case.around.constants, **constants}))


@cache
def at(op: str, version: int) -> list[tuple[Case, list[Any], str]]:
    """Nodes of that version with what they compute, and who computed it."""
    own = [c for c in sources.cases() if c.node.op_type == op and _in_force(op, c.opset) == _in_force(op, version)]
    tests = _node_tests().get(op, [])
    found = [replace(c, opset=version) for c in own]
    for test in _spread(tests):
        for variant in (test, fixed(test)):
            moved = _brought(variant, version)
            if moved is not None:
                found.append(moved)
    judged: list[tuple[Case, list[Any], str]] = []
    for case in found:
        done = _run(case)
        if done is not None:
            judged.append((case, *done))
        if len(judged) >= MOST:
            break
    return judged


def _spread(tests: list[Case]) -> list[Case]:
    """Some from everywhere in the list."""
    return tests[:: max(1, len(tests) // (2 * MOST))]


def _in_force(op: str, version: int) -> int:
    return max((v for v in schemas.versions(op) if v <= version), default=0)


def _brought(case: Case, version: int) -> Case | None:
    """The node at that version, when it is one node there too."""
    if _in_force(case.node.op_type, version) == _in_force(case.node.op_type, case.opset):
        return replace(case, opset=version)
    try:
        found = adapting.moved(case, version)
    except Exception:
        return None
    if isinstance(found, list) or len(found.nodes) != 1 or found.nodes[0].op_type != case.node.op_type:
        return None
    around = replace(case.around, constants={**case.around.constants, **found.constants})
    return Case(found.nodes[0], version, around)


def _run(case: Case) -> tuple[list[Any], str] | None:
    proto = adapting.model([case.node], case.opset, case.around, {}, case.node.output)
    return _judged(proto, case.around.feeds)


def _judged(proto: Any, feeds: Mapping[str, Any]) -> tuple[list[Any], str] | None:
    try:
        return adapting.run(proto, feeds), "runtime"
    except Exception:
        pass
    try:
        return [np.asarray(a) for a in ReferenceEvaluator(proto).run(None, dict(feeds))], "reference"
    except Exception:
        return None


def outcomes(pair: Pair) -> Iterator[Outcome]:
    for case, old, judge in at(pair.op, pair.here):
        try:
            found = adapting.moved(case, pair.there)
        except Exception as error:
            yield Outcome("invalid", f"{type(error).__name__}: {error}")
            continue
        if isinstance(found, list):
            yield Outcome("refused", "; ".join(found))
        else:
            yield _compared(case, old, judge, pair.there, found)


def _compared(case: Case, old: list[Any], judge: str, there: int, found: Adapted) -> Outcome:
    proto = adapting.model(found.nodes, there, case.around, found.constants, case.node.output)
    if judge == "runtime":
        try:
            difference = adapting.different(old, adapting.run(proto, case.around.feeds), found)
            return Outcome("wrong" if difference else "right", difference)
        except Exception as error:
            if "NOT_IMPLEMENTED" not in str(error):
                return Outcome("invalid", str(error)[:300])
    try:
        before = ReferenceEvaluator(adapting.model([case.node], case.opset, case.around, {}, case.node.output)).run(
            None, dict(case.around.feeds)
        )
        after = ReferenceEvaluator(proto).run(None, dict(case.around.feeds))
    except Exception as error:
        return Outcome("unjudged", str(error)[:200])
    difference = adapting.different([np.asarray(a) for a in before], [np.asarray(a) for a in after], found)
    return Outcome("unjudged" if difference else "right", f"reference: {difference}" if difference else "")


def verdict(pair: Pair) -> Outcome:
    """Wrong or invalid when any node is; right when one is right."""
    all_of_them = list(outcomes(pair))
    for word in ("wrong", "invalid", "right", "unjudged", "refused"):
        first = next((o for o in all_of_them if o.word == word), None)
        if first is not None:
            return Outcome(word, first.detail, [o.word for o in all_of_them])
    return Outcome("no source")


def node_tests() -> list[Case]:
    """All of onnx's node tests that have one node and take tensors."""
    return [case for op, found in sorted(_node_tests().items()) if op not in LEFT_OUT for case in found]


def elsewhere(case: Case, target: int) -> Outcome:
    """A node test at another opset, its operands known or not: the better of both, but wrong when one is."""
    found = [_elsewhere(variant, target) for variant in (fixed(case), case)]
    order = ("wrong", "invalid", "right", "unjudged", "no source", "refused")
    return min(found, key=lambda outcome: order.index(outcome.word))


def _elsewhere(case: Case, target: int) -> Outcome:
    done = _run(case)
    if done is None:
        return Outcome("no source")
    found = adapting.moved(case, target)
    return Outcome("refused", "; ".join(found)) if isinstance(found, list) else _compared(case, *done, target, found)
