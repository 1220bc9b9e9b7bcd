"""One fold from end to end: load, plan, apply, then deliver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from onnx import FunctionProto, GraphProto, ModelProto

from qdqtool.check import Probe
from qdqtool.delivery import deliver, located, original_file
from qdqtool.expressions import Const
from qdqtool.folding import Fold, Folding
from qdqtool.model.graph import View, subgraphs
from qdqtool.model.load import Loaded, load, opset_of
from qdqtool.model.structure import require_sound
from qdqtool.model.versions import FREE_INITIALIZERS, settle_ir_version
from qdqtool.passes import tidy
from qdqtool.passes.fold import Folds, constant_bytes, plan_folds
from qdqtool.passes.watch import Watch
from qdqtool.passes.wishes import Found
from qdqtool.plan.apply import Applied, apply_plan
from qdqtool.request import FoldRequest
from qdqtool.result import Result
from qdqtool.uncollected import uncollected


def fold(
    model: str | Path | ModelProto, base_dir: str | Path | None, request: FoldRequest, wrap: Callable[[ModelProto], Any] | None = None
) -> Folding:
    """Carry out a request; the output, if one is asked for, is published only after the check.

    `wrap` turns the result into what ``Folding.model`` gives.
    """
    with nullcontext() if request.check else uncollected():
        return _fold(model, base_dir, request, wrap)


def _fold(
    model: str | Path | ModelProto, base_dir: str | Path | None, request: FoldRequest, wrap: Callable[[ModelProto], Any] | None
) -> Folding:
    begin = perf_counter()
    loaded = load(model, base_dir)
    where = "" if isinstance(model, ModelProto) else str(model)
    working = loaded if loaded.path is not None or request.in_place else replace(loaded, proto=_copy(loaded.proto))
    with located(where), uncollected():
        view = View(working.proto)
        require_sound(working.proto, tidy=view.tidy)
    with located(where), original_file(loaded, request) as original:
        with uncollected():
            folds = plan_folds(view, working.base_dir, request.wishes)
            pairs = _probes(folds) if request.check else []
            folding, constants, watch = _carried_out(folds, working, request)
        folding.seconds = perf_counter() - begin
        folding.result.wrap = wrap
        delivered = deliver(folding.result, pairs, (), original, request)
    folding.folds = tuple(_timed(folding.folds, folds, constants, watch))
    folding.check, folding.elsewhere, folding.files = delivered.check, delivered.elsewhere, delivered.files
    folding.notes += delivered.notes
    return folding


def _probes(folds: Folds) -> list[Probe]:
    """Imported late, since it takes longer than folding a small model."""
    from qdqtool.passes.probes import probes

    return list(probes(folds))


def _copy(proto: ModelProto) -> ModelProto:
    copy = ModelProto()
    copy.CopyFrom(proto)
    return copy


def _carried_out(folds: Folds, loaded: Loaded, request: FoldRequest) -> tuple[Folding, Mapping[Const, str], Watch]:
    """The plan carried out on the model, the names of its new constants, and what will be noted while they are computed."""
    plan, view, proto = folds.plan, folds.given.view, loaded.proto
    opset, ir = opset_of(proto), proto.ir_version
    before = len(folds.given.places), folds.bytes
    records = tuple(_record(folds, found) for found in folds.folds)
    tidied = list(folds.tidied)
    applied = Applied(proto) if plan.idle else apply_plan(view, plan, folds.given.facts, loaded.base_dir)
    tidied += tidy.imports(proto) if request.wishes.tidy else []
    notes = [*folds.remarks, *(_raised(proto, applied) if applied.constants else [])]
    watch = Watch()
    after = _nodes(proto), constant_bytes(proto)
    unchanged = plan.idle and not tidied
    result = Result(proto, loaded, watch.watched(applied.pending), unchanged, progress=request.progress)
    sizes = (before[0], after[0]), (before[1], after[1])
    folding = Folding(opset, (ir, proto.ir_version), records, *sizes, plan.kept, result, folds.foldable, tuple(tidied), tuple(notes))
    folding.weights, folding.limits = "weights" in request.wishes.kinds, request.wishes.limits
    return folding, applied.constants, watch


def _raised(proto: ModelProto, applied: Applied) -> list[str]:
    """Where new constants ask for a higher ``ir_version`` it is raised, and that is noted."""
    if proto.ir_version >= max(FREE_INITIALIZERS, *(const.dtype.ir for const in applied.constants)):
        return []
    opset = opset_of(proto)
    return settle_ir_version(proto, source_opset=opset, target_opset=opset)


def _nodes(proto: ModelProto) -> int:
    """Nodes of all graphs, bodies and functions."""
    waiting: list[GraphProto | FunctionProto] = [proto.graph, *proto.functions]
    count = 0
    while waiting:
        nodes = waiting.pop().node
        count += len(nodes)
        waiting += [graph for node in nodes if node.attribute for _, graph in subgraphs(node)]
    return count


def _record(folds: Folds, found: Found) -> Fold:
    place, view = found.place, folds.given.view
    now = 1 if place in folds.plan.replaces else 0
    return Fold(view.title(place), found.kind, found.what, found.exactness, found.bound, (folds.nodes[place], now), found.bytes, 0)


def _timed(records: tuple[Fold, ...], folds: Folds, constants: Mapping[Const, str], watch: Watch) -> Iterator[Fold]:
    """The records with the time that computing their constants took."""
    for record, found in zip(records, folds.folds, strict=True):
        seconds = sum(watch.seconds(constants.get(const, "")) for const in found.new)
        yield replace(record, seconds=seconds) if seconds else record
