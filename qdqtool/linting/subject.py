"""What a rule sees of one model: everything is made when it is first asked for, and no weight is read before a rule asks for values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from onnx import AttributeProto, FunctionProto, ModelProto, NodeProto

from qdqtool.errors import Unreadable
from qdqtool.expressions import Const
from qdqtool.findings import Fix, Problem, Severity
from qdqtool.kernels.sources import Source
from qdqtool.linting.data import DataFault, damaged, references
from qdqtool.linting.forms import Form, of_steps
from qdqtool.linting.fusion import obstacles_of
from qdqtool.linting.layers import Layer, layers_of
from qdqtool.linting.operators import Illegal, illegal
from qdqtool.linting.ranges import Interval
from qdqtool.linting.scales import Scale, scales_of
from qdqtool.linting.units import Unit, units_of
from qdqtool.linting.weights import Weight, weights_of
from qdqtool.model.graph import Place, Scope, ScopePath, Use, View, domain
from qdqtool.model.load import Loaded, opset_of
from qdqtool.model.names import Names
from qdqtool.model.structure import Fault, faults
from qdqtool.plan.constants import Constants
from qdqtool.plan.facts import Facts
from qdqtool.plan.lift import Lifted, lift_all
from qdqtool.plan.target import Target
from qdqtool.plan.types import UNKNOWN, Type, Types, declared
from qdqtool.targets.profile import Profile


class Subject:
    """One model under rules of the "graph" stage; those of the "file" stage may use `loaded`, `proto`, `profile`, `faults`,
    `damaged` and `references` only.

    `loaded` was opened without judging it (``load(path, trusting=True)``): external data may be missing, short or outside, imports
    absent, the graph compiled. Rules of the graph stage run only where `unsound` says nothing. A constant whose data is missing or
    damaged is a run-time value to them: the file stage tells what is wrong with it.

    `steps` are the quantize and dequantize nodes of every dialect, lifted at the model's own opset: ``steps[place].step`` holds
    meaning (granularity None: the shapes fit none) and operands, ``steps[place].source`` the capability row in force.

    `pending` holds the data of new constants of a model that has not been written yet.
    """

    def __init__(self, loaded: Loaded, profile: Profile | None = None, pending: Mapping[str, Source] | None = None) -> None:
        self.loaded, self.profile, self._pending = loaded, profile, pending or {}

    @property
    def proto(self) -> ModelProto:
        return self.loaded.proto

    @cached_property
    def faults(self) -> list[Fault]:
        """What is wired wrongly: values defined twice or nowhere, cycles, recursion."""
        return [] if self.view.tidy else faults(self.proto)

    @cached_property
    def unsound(self) -> str:
        """Why the graph cannot be judged, in words; empty when it can."""
        if self.faults:
            return self.faults[0].message
        try:
            opset_of(self.proto)
        except Unreadable as error:
            return error.message
        return ""

    @cached_property
    def opset(self) -> int:
        return opset_of(self.proto)

    @cached_property
    def view(self) -> View:
        return View(self.proto)

    @cached_property
    def types(self) -> Types:
        return Types(self.view)

    @cached_property
    def constants(self) -> Constants:
        return Constants(self.view, self.types, self.loaded.base_dir, skip=True, pending=self._pending)

    @cached_property
    def facts(self) -> Facts:
        return Facts(self.constants.open)

    @cached_property
    def steps(self) -> Mapping[Place, Lifted]:
        return lift_all(self.view, self.types, self.constants, Target(self.opset))

    @cached_property
    def damaged(self) -> list[tuple[str, Unreadable]]:
        """Constants whose header or inline data is damaged, by name."""
        return list(damaged(self.proto))

    @cached_property
    def references(self) -> list[DataFault]:
        """What is wrong with external data."""
        return references(self.loaded)

    @cached_property
    def forms(self) -> Mapping[Form, list[Place]]:
        """The steps, grouped by the way they are written."""
        return of_steps(self)

    @cached_property
    def scales(self) -> list[Scale]:
        """The constant scales, summed up."""
        return scales_of(self)

    @cached_property
    def makers(self) -> Mapping[Place, Place | None]:
        """The node that makes the data of each step."""
        return {place: self.producer(place, lifted.source.order[0]) for place, lifted in self.steps.items()}

    @cached_property
    def layers(self) -> list[Layer]:
        """The operators that multiply by weights."""
        return layers_of(self)

    @cached_property
    def obstacles(self) -> Mapping[Place, str]:
        """What keeps quantized convolutions from an integer kernel."""
        return obstacles_of(self)

    @cached_property
    def intervals(self) -> dict[Place, Interval | None]:
        """The numbers that codes stand for, as far as somebody asked (``ranges.of_step``)."""
        return {}

    @cached_property
    def weights(self) -> list[Weight]:
        """The constant codes, read when a rule asks."""
        return weights_of(self)

    @cached_property
    def illegal(self) -> list[Illegal]:
        """What ``onnx.defs`` has against the nodes."""
        return illegal(self)

    @cached_property
    def names(self) -> Names:
        """Names that fixes may still give."""
        return Names.of_view(self.view)

    @cached_property
    def units(self) -> Mapping[Place, Unit]:
        """Operators on dequantized values, with the steps around them."""
        return units_of(self)

    @cached_property
    def _index(self) -> Mapping[tuple[str, str], list[Place]]:
        found: dict[tuple[str, str], list[Place]] = defaultdict(list)
        for place, _, node in self.view.places():
            found[domain(node.domain), node.op_type].append(place)
        return found

    def nodes(self, *ops: str, domain: str = "") -> Iterator[Place]:
        """All nodes of these operators, in every scope."""
        for op in ops:
            yield from self._index.get((domain, op), ())

    def node(self, place: Place) -> NodeProto:
        return self.view.scopes[place.scope].nodes[place.index]

    def scope(self, place: Place) -> Scope:
        return self.view.scopes[place.scope]

    def readers(self, place: Place, slot: int = 0) -> list[Use]:
        """Who reads an output of a node, in any scope."""
        view, scope = self.view, self.view.scopes[place.scope]
        outputs = scope.nodes[place.index].output[:]
        found = view.find(scope, outputs[slot]) if slot < len(outputs) else None
        return view.uses.get(found.key, []) if found else []

    def producer(self, place: Place, slot: int) -> Place | None:
        """The node that makes an operand; None for inputs, initializers and absent operands."""
        view, scope = self.view, self.view.scopes[place.scope]
        inputs = scope.nodes[place.index].input[:]
        name = inputs[slot] if slot < len(inputs) else ""
        found = view.find(scope, name) if name else None
        return Place(found.key.scope, found.index) if found is not None and found.kind == "node" else None

    def declared(self, place: Place, slot: int = 0) -> Type:
        """What the model itself says of an output of a node."""
        outputs = self.node(place).output
        return self._declared.get((place.scope, outputs[slot]), UNKNOWN) if slot < len(outputs) else UNKNOWN

    @cached_property
    def _declared(self) -> Mapping[tuple[ScopePath, str], Type]:
        found: dict[tuple[ScopePath, str], Type] = {}
        for path, scope in self.view.scopes.items():
            outputs = () if isinstance(scope.body, FunctionProto) else scope.body.output
            found.update(((path, value.name), declared(value)) for value in (*outputs, *scope.body.value_info))
        return found

    def attribute(self, place: Place, name: str) -> AttributeProto | None:
        return next((a for a in self.node(place).attribute if a.name == name), None)

    def source(self, const: Const) -> Source:
        """The values of a constant, unread; read them with ``kernels.sources.tiles``, or ``materialize`` when it is small."""
        return self.facts.source(const)

    def problem(
        self,
        place: Place | None,
        message: str,
        hint: str = "",
        *,
        about: str = "",
        severity: Severity | None = None,
        fix: Fix | None = None,
    ) -> Problem:
        """A problem at a node, or of the model."""
        return Problem("" if place is None else self.view.title(place), message, hint, about, severity, fix)
