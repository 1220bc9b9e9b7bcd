"""onnx's own node-test models through qdqtool and onnx.version_converter, judged alike: ``python -m tests.opsets.peers [STEP]``.

Twice: as they are, every operand a graph input; and with all operands but the first as initializers, as models have them.
"""

from __future__ import annotations

import multiprocessing
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, numpy_helper, version_converter
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.case.test_case import TestCase

import qdqtool
from qdqtool import dtypes
from qdqtool.check import sessions
from qdqtool.check.sessions import CannotRun, Setting
from qdqtool.errors import QdqtoolError
from qdqtool.model import tensors
from qdqtool.opsets.draft import epsilon
from tests.judging.validity import room
from tests.opsets import impossible

TARGETS = (10, 13, 17, 21, 24, 27)
COLUMNS = ("same", "rounded", "impossible", "run time", "refused", "invalid", "wrong", "crashed", "unjudged", "random")
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
UNKNOWN = re.compile(r"computed at run time|here (the )?(lengths|axes|shapes)\b.* not known")
"""In a refusal of ours: it is for want of an operand that a model would have as a constant."""
STAYS = re.compile(r"graph (in|out)put \w+, so its codes must stay|accepts bfloat16 from")
"""The type of a graph input or output, or of arithmetic, that the target does not know."""
CHILDREN = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Found:
    word: str
    detail: str = ""


def by_qdqtool(model: ModelProto, target: int) -> ModelProto | str:
    """The model at the target, or why it was refused."""
    try:
        return qdqtool.convert(model, opset=target, check=False).model
    except QdqtoolError as error:
        return str(error)


def by_onnx(model: ModelProto, target: int) -> ModelProto | str:
    """Likewise; that it never lowers ir_version is forgiven."""
    try:
        converted = version_converter.convert_version(model, target)
    except Exception as error:  # its refusals are RuntimeErrors of C++ asserts, ConvertErrors and others
        return str(error)
    converted.ir_version = min(converted.ir_version, room(converted, target))
    return converted


TOOLS = {"qdqtool": by_qdqtool, "onnx": by_onnx}


@cache
def tests() -> tuple[TestCase, ...]:
    """Those the census takes: one node of the main domain, tensors in, nothing expanded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    return tuple(t for t in found if _plain(t))


def _plain(test: TestCase) -> bool:
    if test.model is None or len(test.model.graph.node) != 1 or test.model.functions or test.model.graph.node[0].domain:
        return False
    tensors_only = all(isinstance(a, np.ndarray | TensorProto) or np.isscalar(a) for a in test.data_sets[0][0])
    return tensors_only and "_expanded" not in test.name and "loop" not in test.name


def arrays(values: Sequence[Any]) -> list[Any]:
    return [numpy_helper.to_array(v) if isinstance(v, TensorProto) else v if isinstance(v, list) else np.asarray(v) for v in values]


def posed(test: TestCase, fixed: bool) -> tuple[ModelProto, dict[str, Any]]:
    """The model and its inputs; `fixed`: all operands of its node but the first are initializers."""
    model, feeds = ModelProto(), dict(zip((v.name for v in test.model.graph.input), arrays(test.data_sets[0][0]), strict=False))
    model.CopyFrom(test.model)
    if fixed:
        first, *rest = model.graph.node[0].input
        constants = {name: feeds.pop(name) for name in list(feeds) if name in rest or name != first}
        model.graph.initializer.extend(tensors.make(name, array) for name, array in constants.items())
        kept = [v for v in model.graph.input if v.name not in constants]
        del model.graph.input[:]
        model.graph.input.extend(kept)
        model.ir_version = max(model.ir_version, 4)  # below, an initializer is an input too
    return model, feeds


def can_be_fixed(test: TestCase) -> bool:
    return len(test.data_sets[0][0]) > 1


def run(model: ModelProto, feeds: Mapping[str, Any]) -> list[Any]:
    with sessions.session(model.SerializeToString(), Setting(threads=1)) as opened:
        return list(sessions.run(opened, feeds, [o.name for o in model.graph.output]).values())


def apart(old: Sequence[Any], new: Sequence[Any], room_for: Callable[[Any], float]) -> str:
    """Empty when the same bit for bit, "rounded" within the room, else what differs."""
    words = [_apart(a, b, room_for) for a, b in zip(old, new, strict=True)]
    return next((w for w in words if w not in ("", "rounded")), max(words, default=""))


def _apart(a: Any, b: Any, room_for: Callable[[Any], float]) -> str:
    if not isinstance(a, np.ndarray) or a.dtype == object:
        return "" if str(a) == str(b) else f"{b} instead of {a}"
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{b.dtype}{list(b.shape)} instead of {a.dtype}{list(a.shape)}"
    if a.tobytes() == b.tobytes() or a.dtype.kind not in "fciuV":
        return "" if np.array_equal(a, b) or a.tobytes() == b.tobytes() else f"{b.reshape(-1)[:6]} instead of {a.reshape(-1)[:6]}"
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    x, y = a.astype(wide), b.astype(wide)
    with np.errstate(invalid="ignore"):
        near = (x == y) | ((x != x) & (y != y)) | (np.abs(x - y) <= room_for(a))
    return "rounded" if near.all() else f"{b[~near][:6]} instead of {a[~near][:6]}"


def four_ulps(expected: Any) -> float:
    """Of the largest output magnitude; integers have no room."""
    kind = dtypes.of_numpy(expected.dtype)
    wide = np.abs(expected.astype(np.complex128 if expected.dtype.kind == "c" else np.float64))
    return 0.0 if kind.integer else float(4 * epsilon(kind) * np.max(wide[np.isfinite(wide)], initial=0))


def illegal(model: ModelProto, *, full: bool) -> str:
    """What onnx.checker says; empty when nothing."""
    try:
        onnx.checker.check_model(model, full_check=full)
    except Exception as error:
        return str(error)
    return ""


class Judge:
    """What a node test computes: ONNX Runtime's answer at its own opset, else the vectors.

    Results are checked in full where the original passes that itself: onnx infers no MeanVarianceNormalization from 13 on.
    """

    def __init__(self, test: TestCase, fixed: bool) -> None:
        self.test, self.by_vectors = test, True
        self.model, self.feeds = posed(test, fixed)
        self.expected = arrays(test.data_sets[0][1])
        self.full = not illegal(self.model, full=True)
        with suppress(CannotRun):
            self.expected, self.by_vectors = run(self.model, self.feeds), False

    def word(self, converted: ModelProto, target: int) -> Found:
        if {o.domain: o.version for o in converted.opset_import}.get("") != target:
            return Found("invalid", "imports another opset")
        if problem := illegal(converted, full=self.full):
            return Found("invalid", f"onnx.checker: {problem}")
        if self.model.graph.node[0].op_type in RANDOM:
            return Found("random")
        try:
            actual = run(converted, self.feeds)
        except CannotRun as error:
            return Found("unjudged" if error.missing or self.by_vectors else "invalid", f"ONNX Runtime: {error}")
        difference = apart(self.expected, actual, self._room)
        return Found("wrong", difference) if difference not in ("", "rounded") else Found(difference or "same")

    def _room(self, expected: Any) -> float:
        if not self.by_vectors:
            return four_ulps(expected)
        return float(self.test.atol + self.test.rtol * np.max(np.abs(expected.astype(np.float64)), initial=0))


def surviving(work: Callable[[Sequence[Any]], Iterator[Any]], items: Sequence[Any], crashed: Any) -> list[Any]:
    """What the work yields for each item, done in child processes; `crashed` stands for an item that kills its child."""
    found: list[Any] = []
    while len(found) < len(items):
        found += _in_child(work, items[len(found) :])
        found += [crashed] if len(found) < len(items) else []
    return found


def _in_child(work: Callable[[Sequence[Any]], Iterator[Any]], items: Sequence[Any]) -> Iterator[Any]:
    receiver, sender = CHILDREN.Pipe(duplex=False)

    def send() -> None:
        for result in work(items):
            sender.send(result)

    child = CHILDREN.Process(target=send)
    child.start()
    sender.close()
    try:
        while True:
            yield receiver.recv()
    except EOFError:
        child.join()


def outcome(judge: Judge, tool: str, target: int) -> Found:
    try:
        converted = TOOLS[tool](judge.model, target)
    except Exception as error:
        return Found("crashed", f"{type(error).__name__}: {error}")
    return Found("refused", converted) if isinstance(converted, str) else judge.word(converted, target)


def outcomes(index: int, fixed: bool) -> dict[tuple[str, int], Found]:
    """Of one node test, by tool and target; where we say why it cannot be, no tool's refusal counts against it."""
    test = tests()[index]
    items = [(tool, target) for target in TARGETS if target != test.model.opset_import[0].version for tool in TOOLS]

    def work(left: Sequence[tuple[str, int]]) -> Iterator[Found]:
        judge = Judge(test, fixed)
        yield from (outcome(judge, *item) for item in left)

    found = dict(zip(items, surviving(work, items, Found("crashed", "the process died")), strict=True))
    for tool, target in items:
        ours = found["qdqtool", target]
        if found[tool, target].word == "refused" and ours.word not in COLUMNS[:2]:
            found[tool, target] = Found(_excuse(ours.detail, target), found[tool, target].detail)
    return found


def _excuse(detail: str, target: int) -> str:
    if impossible.excused(detail, target) or STAYS.search(detail):
        return "impossible"
    return "run time" if UNKNOWN.search(detail) else "refused"


def survey(step: int, fixed: bool) -> None:
    """Print one line for each target and tool and one for all, then what is wrong, and what we alone are to blame for refusing."""
    start = time.monotonic()
    able = [index for index, test in enumerate(tests()) if not fixed or can_be_fixed(test)]
    picked = able[::step]
    with ProcessPoolExecutor(2, CHILDREN) as pool:
        rows = dict(zip(picked, pool.map(partial(outcomes, fixed=fixed), picked, chunksize=8), strict=True))
    how = "all operands but the first as initializers" if fixed else "as they are"
    print(f"{len(picked)} of {len(able)} node-test models, {how}; {time.monotonic() - start:.0f} s")
    _table(rows.values())
    for index, row in rows.items():
        for (tool, target), found in row.items():
            if found.word in ("invalid", "wrong", "crashed") or (tool == "qdqtool" and found.word == "refused"):
                test, detail = tests()[index], " ".join(found.detail.split())[:300]
                print(f"{tool}: {test.name} {test.model.opset_import[0].version}>{target}: {found.word}: {detail}")


def _table(rows: Collection[Mapping[tuple[str, int], Found]]) -> None:
    print(f"{'target':>8} {'tool':8}{'pairs':>8}{'right':>8}" + "".join(f"{word:>12}" for word in COLUMNS))
    for target in (*TARGETS, None):
        for tool in TOOLS:
            words = Counter(f.word for row in rows for (t, at), f in row.items() if t == tool and target in (at, None))
            right = words["same"] + words["rounded"]
            print(f"{target or 'all'!s:>8} {tool:8}{words.total():>8}{right:>8}" + "".join(f"{words[word]:>12}" for word in COLUMNS))


if __name__ == "__main__":
    for fixed in (False, True):
        survey(int(sys.argv[1]) if len(sys.argv) > 1 else 1, fixed)
