"""Making a plan: lift, choose a carrier for each region, legalize each step, judge the rest. Nothing is changed here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from onnx import NodeProto

from qdqtool import dtypes
from qdqtool.capabilities import Row, row_at
from qdqtool.check.probe import Rounded
from qdqtool.dtypes import ElementType
from qdqtool.exactness import NO_BOUND, Exactness
from qdqtool.expressions import Computed, Expr, Literal, Op, Step, Stored, cast
from qdqtool.kernels.sources import Array
from qdqtool.model import tensors
from qdqtool.model.graph import Key, Place, Scope, ScopePath, View, domain
from qdqtool.opsets.moves import Verdict
from qdqtool.plan import adapting, dynamic, liveness, patterns, variants
from qdqtool.plan.choose import Choice, Chooser, Rejection
from qdqtool.plan.constants import Constants
from qdqtool.plan.entries import Adapt, Edit, Plan, Replace, Respell, Retype, Rewire
from qdqtool.plan.facts import Facts
from qdqtool.plan.judge import Judge
from qdqtool.plan.legal import node_problems
from qdqtool.plan.lift import Lifted, lift_all, with_carrier
from qdqtool.plan.refuse import Refuser
from qdqtool.plan.regions import Region, Regions
from qdqtool.plan.target import Target
from qdqtool.plan.types import Types
from qdqtool.spelling import Operand, Spelling, read

FIXED = "its body gives an initializer as its result, whose type cannot change"


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
        self._base_dir = base_dir
        self.values: dict[Key, Array | None] = {}
        self._settled: set[ScopePath] = set()

    def build(self) -> Plan:
        if self.target.simplify:
            patterns.raise_all(self)
        self._functions()
        regions = Regions(self.view, self.lifted, self.constants)
        done: set[Place] = set()
        for region in regions.all:
            self._region(region)
            done |= set(region.steps)
        for place, lifted in self.lifted.items():
            if place not in done and not lifted.alone:
                self._replace(lifted, self.chooser(place.scope).choose(lifted.step))
        self._dynamic()
        self.plan.kept = sum(1 for place in self.lifted if place not in self.plan.replaces and place not in self.plan.respells)
        self.plan.dead |= liveness.dead_nodes(self.view, self.plan)
        self._others()
        return self.plan

    def _functions(self) -> None:
        """Functions that stay as they are although their calls differ, and those whose arguments the target cannot pass."""
        for path in self.types.uncalled:
            self._settled.add(path)
            if not self._legal_unseen(self.view.scopes[path]):
                self.plan.drops.add(path)
                self.plan.notes.append(f"{self.view.scopes[path].title()} is never called, and the target cannot say it: dropped")
        for path in self.types.conflicts:
            if variants.stands(self.view, self.types, self.view.scopes[path], lambda v: Builder(v, self.target, self._base_dir).build()):
                self._settled.add(path)
        for place in [p for p in self.lifted if self._root(p) in self._settled]:
            del self.lifted[place]
        for path, signature in self.types.signatures.items():
            late = [t.dtype for t in signature if t.dtype is not None and t.dtype.since > self.target.opset]
            if late:
                self.refuser.function(self.view.scopes[path], late[0])

    def _legal_unseen(self, scope: Scope) -> bool:
        """Whether the target knows all operators and attributes of a body whose types nobody gives."""
        inside = [s for s in self.view.scopes.values() if s.root() is scope]
        return all(not node_problems(node, self.target.opset) for s in inside for node in s.nodes)

    def _root(self, place: Place) -> ScopePath:
        return self.view.scopes[place.scope].root().path

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
        return tuple(r for r in self.judge.verdict(place, assumed).reasons if r not in always)

    def _carry(self, region: Region, carrier: ElementType, choices: Mapping[Place, Choice]) -> None:
        for place, choice in choices.items():
            lifted = region.steps[place]
            self._replace(lifted, choice, None if carrier is region.storage else with_carrier(lifted, carrier))
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
        const = cast(self.constants.expression(self.view.scopes[key.scope], key.name), carrier)
        assert isinstance(const, Stored | Literal | Computed)
        movers = (use for use in self.view.uses.get(key, ()) if use.place in region.movers)
        self.plan.rewires += [Rewire(use.place, use.slot, const) for use in movers]

    def _recode(self, key: Key, carrier: ElementType) -> None:
        """A constant that a body gives as its result: the node that makes it gives the re-encoded one."""
        scope = self.view.scopes[key.scope]
        const = cast(self.constants.expression(scope, key.name), carrier)
        place = Place(key.scope, scope.producers[key.name][0])
        what = f"{self.types.of(key).dtype} constant as {carrier}"
        self.plan.replaces[place] = Replace(place, ((key.name, const),), what, ("carry",), Exactness.BIT_EQUAL, NO_BOUND)
        self.plan.retypes.append(Retype(key, carrier))

    def _replace(self, lifted: Lifted, found: Choice | Rejection, step: Step | None = None) -> None:
        node = self.view.node(lifted.place)
        if isinstance(found, Rejection):
            self.refuser.step(lifted.place, found.reasons)
            return
        what = str(lifted.step.meaning)
        if step is None and not found.names:
            respelled = self._respelled(lifted, found.expr)
            if respelled is not None:
                self.plan.respells[lifted.place] = Respell(lifted.place, respelled, what, lifted.step)
                return
        outputs = ((node.output[0], found.expr),)
        self.plan.replaces[lifted.place] = Replace(
            lifted.place, outputs, what, found.names, found.exactness, found.bound, step or lifted.step
        )

    def _respelled(self, lifted: Lifted, expr: Expr) -> tuple[tuple[str, int | None], ...] | None:
        """The attributes to change when the node can stay: same operator, same operands, same meaning at the target."""
        node, row = self.judge.node(lifted.place), lifted.source
        operands = [lifted.step.x, lifted.step.scale, lifted.step.zero_point]
        if (
            not isinstance(expr, Op)
            or (expr.op, expr.domain) != (row.op, row.domain)
            or any(o not in expr.inputs for o in operands if o is not None)
        ):
            return None
        target = row_at(row.dialect, row.kind, self.target.opset if row.domain == "" else row.version)
        if target is None or len([i for i in expr.inputs if i is not None]) != len([o for o in operands if o is not None]):
            return None
        present = {a.name: a.i for a in node.attribute}
        drops: dict[str, int | None] = {name: None for name in present if name not in target.attributes}
        for changes in (drops, drops | self._decisive(expr, present, target)):
            if self._means(lifted, target, present, changes):
                return tuple(sorted(changes.items()))
        return None

    def _decisive(self, expr: Op, present: Mapping[str, int], row: Row) -> dict[str, int | None]:
        """Attributes other than the axis as the new form has them, where the node's differ."""
        written = {name: value for name, value in expr.attributes if isinstance(value, int)}
        defaults = {"precision": 0, "output_dtype": 0, "saturate": 1, "block_size": 0}
        known = {name: default for name, default in defaults.items() if name in row.attributes}
        return {name: written.get(name) for name, default in known.items() if written.get(name, default) != present.get(name, default)}

    def _means(self, lifted: Lifted, row: Row, present: Mapping[str, int], changes: Mapping[str, int | None]) -> bool:
        after = {row.ours(k): v for k, v in {**present, **changes}.items() if v is not None}
        x, scale, zero = (
            None if e is None else Operand(e.dtype, e.shape) for e in (lifted.step.x, lifted.step.scale, lifted.step.zero_point)
        )
        assert x is not None
        assert scale is not None
        return read(Spelling(after, x, scale, zero), row) == lifted.step.meaning

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
            if self._root(place) in self._settled or place in self.refuser.places:
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
        self.plan.notes += [f"{count} {op} left as they are: no ai.onnx operator at the source opset" for op, count in strange.items()]
