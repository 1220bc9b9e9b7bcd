"""Which opset suits a runtime: the model's own if everything runs there, else the one at which the least has to change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from qdqtool.errors import Refused
from qdqtool.model.graph import View, domain
from qdqtool.plan.build import Builder
from qdqtool.plan.entries import Refusal
from qdqtool.plan.target import Target
from qdqtool.running import Lost, failing
from qdqtool.targets.profile import Profile

CANDIDATES = 6
"""Plans that are made below the model's opset, and as many above it; those that promise most come first."""

LACKING = "runtime-lacks"
"""The runtime has no such operator, kernel or type."""

Planned = tuple[Builder, list[str]]
Planner = Callable[[Target], Planned]


@dataclass(frozen=True, slots=True, order=True)
class Weight:
    """The order of choice: nodes that will not run, nodes that change, class, whether the opset rises, how far it moves."""

    failing: int
    changes: int
    exactness: int
    raised: bool
    distance: int


@dataclass(frozen=True, slots=True)
class Fit:
    """A plan that works, its weight, and what will not run in it, by reason."""

    weight: Weight
    planned: Planned
    lost: tuple[Lost, ...]

    @property
    def failing(self) -> Counter[str]:
        """How many will not run, by reason."""
        return Counter(each.reason for each in self.lost)

    @property
    def opset(self) -> int:
        return self.planned[0].target.opset


def fit(view: View, source: int, target: Target, profile: Profile, plan: Planner, *, fixed: bool = False) -> tuple[Planned, list[str]]:
    """The best plan for a runtime, with notes on the choice; Refused as at the nearest opset when there is none.

    `plan` makes the plan for a target, or raises Refused. At a `fixed` opset what will not run is noted as a caution; else it
    is refused, since no opset helps.
    """
    low, high = profile.opsets
    start = min(max(source, low), high)
    found: list[Fit] = []
    refused: list[Refused] = []
    for opsets in (range(start, low - 1, -1), range(start + 1, high + 1)):
        for opset in _promising(view, target, opsets, start):
            _try(found, refused, target.at(opset), source, plan)
            if found and found[-1].weight.failing == found[-1].weight.changes == 0:
                break
        if any(f.weight.failing == 0 for f in found):
            break
    if not found:
        raise refused[0]
    lost = next(filter(None, map(target.at(start).lacks, _operators(view))), refused[0].reasons[0].reasons[0] if refused else "")
    best = min(found, key=lambda f: f.weight)
    if not fixed:
        _require_running(best, profile)
    return best.planned, [_reason(profile, source, start, best, found, lost), *_cautions(best)]


def _require_running(best: Fit, profile: Profile) -> None:
    """Refused, naming each place, when the runtime surely lacks what the model needs at every opset."""
    sure = [lost for lost in best.lost if lost.sure]
    if sure:
        hint = f"--opset {best.opset} writes it all the same"
        places = f"{len(sure)} place{'s' if len(sure) > 1 else ''}"
        raise Refused(f"{profile} cannot run {places} of the model at any opset", [Refusal(s.at, LACKING, (s.reason,), hint) for s in sure])


def _try(found: list[Fit], refused: list[Refused], target: Target, source: int, plan: Planner) -> None:
    try:
        planned = plan(target)
    except Refused as error:
        refused.append(error)
        return
    assert target.profile is not None
    lost = tuple(failing(planned[0], target.profile))
    entries = planned[0].plan
    classes = [int(e.exactness) for e in entries.replaces.values()] + [int(e.exactness) for e in entries.adapts.values()]
    changes = len(classes) + len(entries.respells) + len(entries.edits) + len(entries.hoists)
    distance = target.opset - source
    found.append(Fit(Weight(len(lost), changes, max(classes, default=0), distance > 0, abs(distance)), planned, lost))


def _promising(view: View, target: Target, opsets: Iterable[int], start: int) -> list[int]:
    """The opsets at which the fewest nodes lack a kernel as they are, nearest first, and `start`."""
    operators = _operators(view)
    lost = {opset: sum(n for op, n in operators.items() if target.at(opset).lacks(op)) for opset in opsets}
    best = sorted(lost, key=lambda opset: (lost[opset], abs(opset - start)))[:CANDIDATES]
    return best if start in best or start not in lost else [*best, start]


def _operators(view: View) -> Counter[str]:
    """Main-domain operators with their numbers."""
    return Counter(node.op_type for _, _, node in view.places() if not domain(node.domain))


def _reason(profile: Profile, source: int, start: int, best: Fit, found: list[Fit], lost: str) -> str:
    """What was chosen and why."""
    measured = f" ({profile.source})" if profile.source else ""
    low, high = profile.opsets
    if best.opset == source and low != high:
        return f"opset {source} stays for {profile}{measured}, which loads {low} to {high}"
    if low == high:
        return f"{profile} is opset {high}"
    first = next((f for f in found if f.opset == start), None)
    if best.opset == start != source:
        why = f"the nearest it loads ({low} to {high})"
    elif first is None:
        why = f"at {start} {lost}"
    elif first.weight.failing > best.weight.failing:
        why = f"at {start} {_most(first.failing)}"
    else:
        why = f"at {start} {first.weight.changes} nodes would change, here {best.weight.changes}"
    return f"opset {best.opset} chosen for {profile}{measured}: {why}"


def _most(failing: Counter[str]) -> str:
    reason, rest = failing.most_common(1)[0][0], len(failing) - 1
    return reason + (f", and {rest} more like it" if rest else "")


def _cautions(best: Fit) -> list[str]:
    return [f"caution: {count} node{'s' if count > 1 else ''} may not run, since {reason}" for reason, count in best.failing.items()]
