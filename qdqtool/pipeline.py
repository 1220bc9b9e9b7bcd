"""One conversion from end to end: load, plan, apply, then deliver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from onnx import ModelProto, inliner

from qdqtool import aiming, changes
from qdqtool.check import Probe
from qdqtool.conversion import Conversion
from qdqtool.delivery import deliver, located, original_file
from qdqtool.errors import Refused
from qdqtool.linting import obstacles
from qdqtool.linting.obstacles import Obstacle
from qdqtool.linting.subject import Subject
from qdqtool.model import unused_imports
from qdqtool.model.graph import MAIN, View
from qdqtool.model.load import Loaded, load, opset_of
from qdqtool.model.structure import require_sound
from qdqtool.model.versions import needed, settle_ir_version
from qdqtool.plan import fused, splitting
from qdqtool.plan.apply import Applied, apply_plan
from qdqtool.plan.build import Builder
from qdqtool.plan.entries import Plan, Refusal
from qdqtool.plan.probe import probes
from qdqtool.plan.target import Target
from qdqtool.request import Request
from qdqtool.result import Result
from qdqtool.targets.profile import Profile
from qdqtool.uncollected import uncollected


def convert(
    model: str | Path | ModelProto, base_dir: str | Path | None, request: Request, wrap: Callable[[ModelProto], Any] | None = None
) -> Conversion:
    """Carry out a request; the output, if one is asked for, is published only after the check.

    `wrap` turns the result into what ``Conversion.model`` gives.
    """
    loaded, where = load(model, base_dir), "" if isinstance(model, ModelProto) else str(model)
    with located(where):
        require_sound(loaded.proto)
        source = opset_of(loaded.proto)
        target = request.target(source, where)
    with located(where), original_file(loaded, request) as original:
        working = loaded if loaded.path is not None or request.in_place else replace(loaded, proto=_copy(loaded.proto))
        with uncollected():
            (builder, inlined), chosen = _aimed(working, source, target, request)
            pairs: Sequence[Probe] = list(probes(builder)) if request.check else ()
            conversion = _rewritten(builder, inlined, chosen, working, source, request)
            _require_runs(conversion.result, target.profile)
        conversion.result.wrap = wrap
        delivered = deliver(conversion.result, pairs, builder.plan.rounded, original, request)
    conversion.check, conversion.elsewhere, conversion.files = delivered.check, delivered.elsewhere, delivered.files
    conversion.notes += delivered.notes
    return conversion


def _copy(proto: ModelProto) -> ModelProto:
    copy = ModelProto()
    copy.CopyFrom(proto)
    return copy


def _aimed(loaded: Loaded, source: int, target: Target, request: Request) -> tuple[aiming.Planned, list[str]]:
    """The plan, with notes on the opset where a runtime decides it."""
    profile = target.profile
    if profile is None:
        return _raised(loaded, target, request)
    fixed = request.opset is not None
    limits = (target.opset, target.opset) if fixed else profile.opsets
    narrowed = replace(profile, opsets=limits)
    unwanted = _unwanted(loaded, target)
    planned, notes = aiming.fit(View(loaded.proto), source, target, narrowed, lambda t: _planned(loaded, t, unwanted), fixed=fixed)
    return planned, notes[1:] if fixed else notes


def _raised(loaded: Loaded, target: Target, request: Request) -> tuple[aiming.Planned, list[str]]:
    """At the opset asked for; where none was, at the first that has the steps of fused operators, if the model goes there."""
    split = request.opset is None and target.splits and any(fused.fused_nodes(View(loaded.proto)))
    opset = splitting.natural_opset(Builder(View(loaded.proto), target, loaded.base_dir)) if split else target.opset
    if opset > target.opset:
        with suppress(Refused):
            return _planned(loaded, target.at(opset)), [f"opset {opset} chosen: the first that has the steps of its fused operators"]
    return _planned(loaded, target), []


def _planned(loaded: Loaded, target: Target, unwanted: frozenset[str] = frozenset()) -> tuple[Builder, list[str]]:
    """A plan without refusals, and the functions that stood in its way, which are inlined."""
    proto, inlined = loaded.proto, list[str]()
    for _ in range(len(proto.functions) + 1):
        builder = Builder(View(proto), target, loaded.base_dir, unwanted)
        plan = builder.build()
        if not plan.refusals:
            return builder, inlined
        inlinable = sorted({(path[1], path[2]) for path in plan.inline if path[0] == "function"})
        if not inlinable or any(r.scope == MAIN and not plan.inline for r in plan.refusals):
            break
        inlined += [name for _, name in inlinable]
        proto = inliner.inline_selected_functions(proto, inlinable)
        unwanted = _unwanted(replace(loaded, proto=proto), target)
    raise _refused(builder, loaded)


def _unwanted(loaded: Loaded, target: Target) -> frozenset[str]:
    """The fused operators that the target's runtime has something against, if it has its say."""
    profile = target.profile
    if profile is None or not profile.binding or not any(fused.fused_nodes(View(loaded.proto))):
        return frozenset()
    return obstacles.unwanted(Subject(loaded, profile))


def _refused(builder: Builder, loaded: Loaded) -> Refused:
    """With what else the runtime refuses, since nothing will take that away."""
    refusals, total = [*builder.plan.refusals, *_remaining(builder, loaded)], len(builder.lifted)
    steps = sum(place in builder.lifted for place in builder.refuser.places)
    others = len(refusals) - steps
    parts = [
        f"{steps} of {total} quantize/dequantize nodes" if steps else "",
        f"{others} other node{'s' if others != 1 else ''}" if others else "",
    ]
    profile = builder.target.profile
    hint = f"qdqtool targets {profile} shows what it takes" if profile is not None and not any(r.hint for r in refusals) else ""
    return Refused(f"{builder.target} cannot express {' and '.join(p for p in parts if p)}", refusals, hint=hint)


def _remaining(builder: Builder, loaded: Loaded) -> list[Refusal]:
    profile = builder.target.profile
    if profile is None or not profile.binding:
        return []
    told, subject = (
        {refusal.at.partition(" (")[0] for refusal in builder.plan.refusals},
        Subject(replace(loaded, proto=builder.view.proto), profile),
    )
    mended = obstacles.OF_STEPS | obstacles.OF_OPERATORS
    return [_told(each) for each in obstacles.obstacles(subject, without=mended) if each.at not in told]


def _told(obstacle: Obstacle) -> Refusal:
    return Refusal(obstacle.at, obstacle.rule, (obstacle.message,), obstacle.hint)


def _require_runs(result: Result, profile: Profile | None) -> None:
    """Refused when the runtime, if it has its say, has an error to tell about the result."""
    if profile is None or not profile.binding:
        return
    found = obstacles.obstacles(Subject(replace(result.loaded, proto=result.proto), profile, result.pending))
    if found:
        places = len({each.at for each in found})
        raise Refused(f"{profile} cannot run {places} place{'s' if places > 1 else ''} of the model", [_told(each) for each in found])


def _rewritten(
    builder: Builder, inlined: Sequence[str], chosen: Sequence[str], loaded: Loaded, source: int, request: Request
) -> Conversion:
    """The plan carried out on the model of `builder`, whose view is stale afterwards."""
    plan, proto, target = builder.plan, builder.view.proto, builder.target.opset
    before, idle = proto.ir_version, plan.idle and source == target
    drafts, notes = changes.planned(builder.view, plan), [*chosen, *_notes(builder.view, plan, inlined)]
    applied = Applied(proto) if idle else apply_plan(builder.view, plan, builder.facts, loaded.base_dir)
    profile = builder.target.profile
    dropped = unused_imports.drop(proto, profile.imports) if profile else []
    limit = builder.target.highest_ir
    _require_ir(proto, builder.target)
    if not idle or request.ir_version is not None or (limit is not None and before > limit):
        notes += settle_ir_version(proto, source_opset=source, target_opset=target, wanted=request.ir_version, limit=limit)
    return Conversion(
        source,
        target,
        (before, proto.ir_version),
        changes.counted(drafts, applied.written),
        (*notes, *dropped),
        plan.kept,
        _result=Result(proto, loaded, applied.pending, unchanged=idle and not dropped and proto.ir_version == before),
    )


def _require_ir(proto: ModelProto, target: Target) -> None:
    """Refused when the runtime takes no ``ir_version`` that can hold the result."""
    need, reason = needed(proto)
    if target.highest_ir is not None and need > target.highest_ir:
        why = f"{reason} needs ir_version {need}, and {target.profile} takes none above {target.highest_ir}"
        raise Refused(f"{target} cannot load the result", [Refusal("the model", "ir-version", (why,))])


def _notes(view: View, plan: Plan, inlined: Sequence[str]) -> Iterator[str]:
    """What happens beside the changes."""
    if inlined:
        yield f"inlined first, since they cannot stay functions: {', '.join(inlined)}"
    if plan.hoists:
        count = len(plan.hoists)
        yield f"{count} Constant node{'s' if count > 1 else ''} became initializers: the target lacks their form or type"
    yield from plan.notes
    yield from (f"{view.title(edit.place)}: {', '.join(map(str, edit.edits))}" for edit in plan.edits)
