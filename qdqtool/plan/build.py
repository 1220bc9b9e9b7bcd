"""Making a plan: lift, choose a carrier for each region, legalize each step, judge the rest. Nothing is changed here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.exactness import NO_BOUND, Exactness
from qdqtool.expressions import Computed, Expr, Literal, Step, Stored, cast
from qdqtool.model.graph import MAIN, Key, Place, ScopePath, View, domain
from qdqtool.plan import dynamic, liveness
from qdqtool.plan.choose import Choice, Chooser, Rejection
from qdqtool.plan.constants import Constants
from qdqtool.plan.entries import Edit, Plan, Replace, Retype, Rewire
from qdqtool.plan.facts import Facts
from qdqtool.plan.judge import Judge
from qdqtool.plan.lift import Lifted, lift_all, with_carrier
from qdqtool.plan.refuse import Refuser
from qdqtool.plan.regions import Region, Regions
from qdqtool.plan.target import Target
from qdqtool.plan.types import Types


def make_plan(view: View, target: Target, base_dir: Path | None) -> Plan:
    """What brings the model of `view` to `target`, or every reason why that cannot be."""
    return Builder(view, target, base_dir).build()


class Builder:
    """The state of one planning."""

    def __init__(self, view: View, target: Target, base_dir: Path | None) -> None:
        self.view, self.target = view, target
        self.types = Types(view)
        self.constants = Constants(view, self.types, base_dir)
        self.facts = Facts(self.constants.open)
        self.judge = Judge(view, self.types, self.constants, target.opset)
        self.lifted = lift_all(view, self.types, self.constants, target)
        self.plan = Plan(target)
        self.refuser = Refuser(view, self.lifted, self.plan)
        self._choosers: dict[ScopePath, Chooser] = {}

    def build(self) -> Plan:
        regions = Regions(self.view, self.lifted, self.constants)
        done: set[Place] = set()
        for region in regions.all:
            self._region(region)
            done |= set(region.steps)
        for place, lifted in self.lifted.items():
            if place not in done and not lifted.alone:
                self._replace(lifted, self.chooser(place.scope).choose(lifted.step))
        self._dynamic()
        self.plan.kept = sum(1 for place in self.lifted if place not in self.plan.replaces)
        self.plan.dead = liveness.dead_nodes(self.view, self.plan)
        self._others()
        return self.plan

    def chooser(self, scope: ScopePath) -> Chooser:
        root = self.view.scopes[scope].root()
        if root.path not in self._choosers:
            self._choosers[root.path] = Chooser(self.target, root.imports, self.facts, root.is_function)
        return self._choosers[root.path]

    def _region(self, region: Region) -> None:
        failures: list[dict[Place, tuple[str, ...]]] = []
        for carrier in region.carriers():
            choices, failed = self._try(region, carrier)
            if not failed:
                self._carry(region, carrier, choices)
                return
            failures.append(failed)
        self.refuser.region(region, failures[0])

    def _try(self, region: Region, carrier: ElementType) -> tuple[dict[Place, Choice], dict[Place, tuple[str, ...]]]:
        """Choices for the steps that must change, and what fails, with this carrier."""
        choices: dict[Place, Choice] = {}
        failed: dict[Place, tuple[str, ...]] = {}
        for place, lifted in region.steps.items():
            if lifted.alone and carrier is region.storage:
                continue
            found = self.chooser(place.scope).choose(with_carrier(lifted, carrier))
            if isinstance(found, Choice):
                choices[place] = found
            else:
                failed[place] = found.reasons
        assumed = dict.fromkeys(region.values, carrier)
        for place in region.movers | {use.place for use in region.readers}:
            reasons = self._type_reasons(place, region, assumed)
            if reasons:
                failed[place] = reasons
        if carrier is not region.storage and any(self.view.results.get(key) for key in region.constants):
            failed[Place(MAIN, 0)] = ("a constant that is a body's result cannot change its type",)
        return choices, failed

    def _type_reasons(self, place: Place, region: Region, assumed: Mapping[Key, ElementType]) -> tuple[str, ...]:
        """Reasons against a mover that float32 values would remove; the others are judged with the rest of the model."""
        always = self.judge.verdict(place, dict.fromkeys(region.values, dtypes.FLOAT)).reasons
        return tuple(r for r in self.judge.verdict(place, assumed).reasons if r not in always)

    def _carry(self, region: Region, carrier: ElementType, choices: Mapping[Place, Choice]) -> None:
        for place, choice in choices.items():
            self._replace(region.steps[place], choice, with_carrier(region.steps[place], carrier))
        if carrier is region.storage:
            return
        for key in sorted(region.values, key=lambda k: (k.scope, k.name)):
            self.judge.carriers[key] = carrier
            if key in region.constants:
                self._rewire(key, carrier)
            else:
                self.plan.retypes.append(Retype(key, carrier))

    def _rewire(self, key: Key, carrier: ElementType) -> None:
        scope = self.view.scopes[key.scope]
        const = cast(self.constants.expression(scope, key.name), carrier)
        assert isinstance(const, Stored | Literal | Computed)
        self.plan.rewires += [Rewire(use.place, use.slot, const) for use in self.view.uses.get(key, ()) if use.place not in self.lifted]

    def _replace(self, lifted: Lifted, found: Choice | Rejection, step: Step | None = None) -> None:
        node = self.view.node(lifted.place)
        if isinstance(found, Rejection):
            self.refuser.step(lifted.place, found.reasons)
            return
        outputs = ((node.output[0], found.expr),)
        what = str(lifted.step.meaning)
        self.plan.replaces[lifted.place] = Replace(
            lifted.place, outputs, what, found.names, found.exactness, found.bound, step or lifted.step
        )

    def _dynamic(self) -> None:
        for place, scope, node in self.view.places():
            if node.op_type != "DynamicQuantizeLinear" or domain(node.domain) or self.target.opset >= 11:
                continue
            results = dynamic.expand(self.constants.expression(scope, node.input[0]), self.target.opset)
            exprs = [(name, expr) for name, expr in zip(node.output, (results.y, results.scale, results.zero_point), strict=False) if name]
            self._several(place, exprs)

    def _several(self, place: Place, exprs: list[tuple[str, Expr]]) -> None:
        run = self.chooser(place.scope)
        choices = [(name, run.legalize(expr)) for name, expr in exprs]
        rejected = [c for _, c in choices if isinstance(c, Rejection)]
        if rejected:
            self.refuser.step(place, rejected[0].reasons)
            return
        done = [(name, c) for name, c in choices if isinstance(c, Choice)]
        names = tuple(dict.fromkeys(("dynamic", *(n for _, c in done for n in c.names))))
        exactness = max((c.exactness for _, c in done), default=Exactness.BIT_EQUAL)
        bound = sum((c.bound for _, c in done), NO_BOUND)
        outputs = tuple((name, c.expr) for name, c in done)
        self.plan.replaces[place] = Replace(place, outputs, "float32 to uint8, scale computed at run time", names, exactness, bound)

    def _others(self) -> None:
        strange: dict[str, int] = {}
        for place, _, node in self.view.places():
            if place in self.lifted or place in self.plan.replaces or place in self.plan.dead or self.view.function_of(node) is not None:
                continue
            if self.judge.unknown_at_source(place):
                strange[node.op_type] = strange.get(node.op_type, 0) + 1
                continue
            verdict = self.judge.verdict(place)
            if verdict.reasons:
                self.refuser.operator(place, verdict.reasons)
            elif verdict.edits:
                self.plan.edits.append(Edit(place, verdict.edits))
        self.plan.notes += [f"{count} {op} left as they are: no ai.onnx operator at the source opset" for op, count in strange.items()]
