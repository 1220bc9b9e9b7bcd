"""Where two models part: both cut apart at the values they share, every piece fed with what the first model really computes there.

So each piece stands alone: what an earlier difference does to all that follows is no finding of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from onnx import NodeProto

from qdqtool import dtypes
from qdqtool.check import runtimes
from qdqtool.check.inside import exposed
from qdqtool.check.replay import PRODUCED, cut
from qdqtool.check.runs import Inputs
from qdqtool.check.runtimes import Runtime
from qdqtool.comparing.judging import Judgement, Origin, judge
from qdqtool.comparing.pairs import Pairs
from qdqtool.comparing.sides import Side
from qdqtool.kernels.sources import Array


@dataclass(frozen=True, slots=True)
class Parting:
    """A value that the two compute differently from the same operands, and the nodes that compute it in either."""

    value: str
    other: str
    judgement: Judgement
    before: tuple[NodeProto, ...]
    after: tuple[NodeProto, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """Both sides, where each runs, and the inputs of either."""

    a: Side
    b: Side
    there: Runtime
    other: Runtime
    inputs: Inputs
    others: Inputs
    values: dict[str, Array] = field(default_factory=dict)


def partings(task: Task, pairs: Pairs, *, joined: bool = False) -> list[Parting]:
    """The pieces that differ, in the order of the first model.

    Raises
    ------
    CannotRun
        One of the copies does not run.
    """
    pairs = {x: y for x, y in pairs.items() if movable(task, task.values[x])}
    before = _pieces(task.there, task.a, {x: task.values[x] for x in pairs}, task.inputs)
    after = _pieces(task.other, task.b, {y: task.values[x] for x, y in pairs.items()}, task.others)
    values, cuts, one = {**task.inputs, **task.values}, frozenset(pairs.values()), not task.other.apart
    found = []
    for x, y in pairs.items():
        if x in before and y in after and not np.array_equal(before[x], after[y]):
            old, new = tuple(task.a.segment(x, pairs.keys())), tuple(task.b.segment(y, cuts))
            judgement = judge(before[x], after[y], Origin(task.a, old, new, values, one, task.other.steps, joined))
            found += [Parting(x, y, judgement, old, new)] if judgement.level != "equal" else []
    return found


def computed(where: Runtime, side: Side, inputs: Inputs, names: Sequence[str]) -> dict[str, Array]:
    """Values inside, as the whole model computes them."""
    results = runtimes.run(where, exposed(side.proto(), list(names)), side.subject, inputs, names)
    return {name: value for name, value in results.items() if isinstance(value, np.ndarray)}


def movable(task: Task, values: Array) -> bool:
    """Whether both runtimes take and give values of this type."""
    dtype = dtypes.of_numpy(values.dtype) if values.dtype.kind not in "OUS" else dtypes.STRING
    return dtype is not dtypes.STRING and task.there.hands_over(dtype) and task.other.hands_over(dtype)


def _pieces(where: Runtime, side: Side, values: Mapping[str, Array], inputs: Inputs) -> dict[str, Array]:
    """What each piece gives, by the value that it gives."""
    types = {name: dtypes.of_numpy(value.dtype) for name, value in values.items()}
    model = cut(side.proto(), types, dict(values))
    names = [output.name for output in model.graph.output if output.name.endswith(PRODUCED)]
    known = {port.name for port in model.graph.input}
    fed = {name: value for name, value in {**inputs, **values}.items() if name in known}
    results = runtimes.run(where, model, side.subject, fed, names)
    return {name.removesuffix(PRODUCED): value for name, value in results.items() if isinstance(value, np.ndarray)}
