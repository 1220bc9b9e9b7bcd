"""Making a plan: lift, choose a carrier for each region, legalize each step, judge the rest. Nothing is changed here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from pathlib import Path

from onnx import ModelProto, NodeProto

from qdqtool import dtypes
from qdqtool.check.probe import Rounded
from qdqtool.dtypes import ElementType
from qdqtool.exactness import NO_BOUND, Exactness
from qdqtool.expressions import Step, is_const
from qdqtool.kernels.sources import Array
from qdqtool.model import tensors
from qdqtool.model.graph import Key, Place, ScopePath, View, domain
from qdqtool.opsets.moves import Verdict
from qdqtool.plan import adapting, dynamic, fused, fusing, liveness, patterns, recentring, splitting, staying, training, variants
from qdqtool.plan.choices import Choice, Outcome, Rejection
from qdqtool.plan.choose import Chooser
from qdqtool.plan.constants import Constants
from qdqtool.plan.entries import Adapt, Edit, Plan, Replace, Respell, Retype, Rewire
from qdqtool.plan.facts import Facts
from qdqtool.plan.hearing import Hearing
from qdqtool.plan.judge import Judge
from qdqtool.plan.legalize import Site
from qdqtool.plan.lift import Lifted, lift_all
from qdqtool.plan.refuse import Refuser
from qdqtool.plan.regions import Region, Regions
from qdqtool.plan.respell import respelled
from qdqtool.plan.sayings import Sayings
from qdqtool.plan.target import Target
from qdqtool.plan.types import Types

FIXED = "its body gives an initializer as its result, whose type cannot change"


class Builder:
    """The state of one planning.

    `values` remembers the elements of small constants, `settled` are functions that are not planned any further. `unwanted` are the
    titles of fused operators that the target's runtime has something against.
    """

    def __init__(self, view: View, target: Target, base_dir: Path | None, unwanted: Collection[str] = ()) -> None:
        self.view, self.target, self.unwanted = view, target, unwanted
        self.types = Types(view)
        self.constants = Constants(view, self.types, base_dir)
        self.facts = Facts(self.constants.open)
        fused.learn(view, self.types, self.constants)
        self.judge = Judge(view, self.types, self.constants, target.opset)
        self.hearing = Hearing(view, self.constants, self.facts, target, self.judge.node)
        self.lifted = self.hearing.judged(lift_all(view, self.types, self.constants, target))
        self.plan = Plan(target)
        self.refuser = Refuser(view, self.lifted, self.judge, self.plan)
        self._choosers: dict[ScopePath, Chooser] = {}
        self._base_dir = base_dir
        self.values: dict[Key, Array | None] = {}
        self.sayings = Sayings()
        self.settled: set[ScopePath] = set()

    def build(self) -> Plan:
        if self.target.raises:
            patterns.raise_all(self)
        splitting.split_all(self)
        if self.target.fuse:
            fusing.fuse_all(self)
        variants.settle(self)
        regions = Regions(self.view, self.lifted, self.constants)
        done: set[Place] = set()
        for region in regions.all:
            self._region(region)
            done |= set(region.steps)
        for place, lifted in self.lifted.items():
            if place not in done and not lifted.alone:
                self._replace(lifted, self.choose(place, lifted.step))
        dynamic.plan_all(self)
        self.plan.kept = sum(1 for place in self.lifted if place not in self.plan.replaces and place not in self.plan.respells)
        self.plan.notes += staying.notes(self)
        self.plan.dead |= liveness.dead_nodes(self.view, self.plan)
        self._others()
        training.refuse_changed(self)
        return self.plan

    def again(self, model: ModelProto) -> Builder:
        """A planning of another model for the same target."""
        return Builder(View(model), self.target, self._base_dir)

    def root(self, place: Place) -> ScopePath:
        """The main graph or function that a node lies in."""
        return self.view.scopes[place.scope].root().path

    def chooser(self, scope: ScopePath) -> Chooser:
        """The one of the main graph or function that a scope lies in."""
        root = self.view.scopes[scope].root()
        if root.path not in self._choosers:
            self._choosers[root.path] = Chooser(Site(self.target, root.imports, root.is_function), self.facts)
        return self._choosers[root.path]

    def choose(self, place: Place, step: Step) -> Outcome:
        """The best legal way to say a step at its place."""
        return self.chooser(place.scope).choose(step, self.hearing.part(place))

    def _region(self, region: Region) -> None:
        failures: list[dict[Place, tuple[str, ...]]] = []
        for carrier in recentring.carriers(region, self.target):
            choices, failed = self._try(region, carrier)
            if not failed:
                self._carry(region, carrier, choices)
                return
            failures.append(failed)
        self.refuser.region(region, recentring.explained(region, self.target, failures))

    def _try(self, region: Region, carrier: ElementType) -> tuple[dict[Place, Choice], dict[Place, tuple[str, ...]]]:
        """Choices for the steps that must change, and what fails, with this carrier."""
        choices: dict[Place, Choice] = {}
        failed: dict[Place, tuple[str, ...]] = {}
        for place, lifted in region.steps.items():
            if lifted.alone and carrier is region.storage:
                continue
            step = recentring.carried(lifted, carrier)
            found = Rejection((recentring.UNSHIFTED,)) if step is None else self.choose(place, step)
            if isinstance(found, Choice):
                choices[place] = found
            else:
                failed[place] = found.reasons
        assumed = dict.fromkeys(region.values, carrier)
        for place in sorted(region.movers | {use.place for use in region.readers}, key=lambda p: (p.scope, p.index)):
            reasons = self._type_reasons(place, region, assumed)
            if reasons:
                failed[place] = reasons
        failed |= recentring.counting(self.view, region, carrier)
        if carrier is not region.storage:
            failed |= {body: (FIXED,) for key in region.constants if (body := self._fixed(key)) is not None}
        return choices, failed

    def _fixed(self, key: Key) -> Place | None:
        """The node whose body gives an initializer as its result, which then has no node that could be replaced."""
        if key.name in self.view.scopes[key.scope].producers:
            return None
        bodies = (self.view.scopes[path] for path in self.view.results.get(key, ()))
        return next((Place(b.parent.path, int(b.path[-2])) for b in bodies if b.parent is not None), None)

    def _type_reasons(self, place: Place, region: Region, assumed: Mapping[Key, ElementType]) -> tuple[str, ...]:
        """Reasons against a mover that float32 values would remove; the others are judged with the rest of the model."""
        always = self.judge.verdict(place, dict.fromkeys(region.values, dtypes.FLOAT)).reasons
        op = self.view.node(place).op_type
        kernel = self.target.lacks(op, assumed.values()) if not self.target.lacks(op, (dtypes.FLOAT,)) else ""
        return (*(r for r in self.judge.verdict(place, assumed).reasons if r not in always), *filter(None, [kernel]))

    def _carry(self, region: Region, carrier: ElementType, choices: Mapping[Place, Choice]) -> None:
        for place, choice in choices.items():
            lifted = region.steps[place]
            self._replace(lifted, choice, None if carrier is region.storage else recentring.carried(lifted, carrier))
        if carrier is region.storage:
            return
        for key in sorted(region.values, key=lambda k: (k.scope, k.name)):
            self.judge.carriers[key] = carrier
            if key not in region.constants:
                self.plan.retypes.append(Retype(key, carrier))
            elif self.view.results.get(key):
                self._recode(key, carrier)
            else:
                self._rewire(key, carrier, region)

    def _rewire(self, key: Key, carrier: ElementType, region: Region) -> None:
        const = recentring.recoded(self.constants.expression(self.view.scopes[key.scope], key.name), carrier)
        assert is_const(const)
        movers = (use for use in self.view.uses.get(key, ()) if use.place in region.movers)
        self.plan.rewires += [Rewire(use.place, use.slot, const) for use in movers]

    def _recode(self, key: Key, carrier: ElementType) -> None:
        """A constant that a body gives as its result: the node that makes it gives the re-encoded one."""
        scope = self.view.scopes[key.scope]
        const = recentring.recoded(self.constants.expression(scope, key.name), carrier)
        assert is_const(const)
        place = Place(key.scope, scope.producers[key.name][0])
        what = f"{self.types.of(key).dtype} constant as {carrier}"
        self.plan.replaces[place] = Replace(place, ((key.name, const),), what, ("carry",), Exactness.BIT_EQUAL, NO_BOUND)
        self.plan.retypes.append(Retype(key, carrier))

    def _replace(self, lifted: Lifted, found: Outcome, step: Step | None = None) -> None:
        node = self.view.node(lifted.place)
        if isinstance(found, Rejection):
            self.refuser.step(lifted.place, found.reasons)
            return
        what = str(lifted.step.meaning)
        if step is None and not found.names:
            attributes = respelled(lifted, self.judge.node(lifted.place), found.expr, self.target, partial(self.hearing.weight, lifted))
            if attributes == () and self.view.scopes[lifted.place.scope].imports.get("", 1) == self.target.opset:
                return
            if attributes is not None:
                self.plan.respells[lifted.place] = Respell(lifted.place, attributes, what, lifted.step)
                return
        outputs = ((node.output[0], found.expr),)
        self.plan.replaces[lifted.place] = Replace(
            lifted.place, outputs, what, found.names, found.exactness, found.bound, step or lifted.step
        )

    def _hoistable(self, place: Place, node: NodeProto) -> bool:
        """A constant in a graph can be an initializer, whose types no operator limits."""
        constant = node.op_type == "Constant" and not domain(node.domain) and tensors.constant_header(node) is not None
        return constant and not self.view.scopes[place.scope].is_function

    def _adapt(self, place: Place, reasons: Iterable[str]) -> None:
        found = adapting.adapted(self, place)
        if isinstance(found, Adapt):
            self.plan.adapts[place] = found
        else:
            self.refuser.operator(place, found or reasons)

    def _others(self) -> None:
        strange: dict[str, int] = {}
        judged: dict[Place, Verdict] = {}
        for place, _, node in self.view.places():
            if place in self.lifted or place in self.plan.replaces or place in self.plan.dead or self.view.function_of(node) is not None:
                continue
            if self.root(place) in self.settled or place in self.refuser.places:
                continue
            if self.judge.unknown_at_source(place):
                strange[node.op_type] = strange.get(node.op_type, 0) + 1
                continue
            verdict = self.judge.verdict(place)
            if verdict.rounded:
                self.plan.rounded.append(Rounded(self.view.title(place), () if place.scope else tuple(filter(None, node.output))))
            if verdict.reasons and not self._hoistable(place, node):
                self._adapt(place, verdict.reasons)
            elif verdict.reasons or verdict.edits:
                judged[place] = verdict
        self.plan.dead |= liveness.dead_nodes(self.view, self.plan)
        for place, verdict in ((p, v) for p, v in judged.items() if p not in self.plan.dead):
            if verdict.reasons:
                self.plan.hoists.add(place)
            else:
                self.plan.edits.append(Edit(place, verdict.edits))
        self.plan.notes += [f"{count} {op} left alone: ai.onnx has no such operator at the source opset" for op, count in strange.items()]
